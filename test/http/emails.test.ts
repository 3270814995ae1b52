// engines: sqlite, postgres

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { EMAIL } from '../../server/domain/emails.ts'
import type { Cairn } from '../fixtures/cairn.ts'
import { assertValid } from '../fixtures/contract/reply-check.ts'
import { newMember, signIn } from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'

const declared = { $ref: '#/components/schemas/Email' }

/** Whether the contract's schema accepts the text, checked independently: pattern, format and lengths. */
function isDeclared(email: string): boolean {
  try {
    assertValid(email, declared, email)
    return true
  } catch {
    return false
  }
}

/** Whether RFC 5321 allows it, without forms that it advises against: quotes, address literals, a bare host. */
function isMailbox(email: string): boolean {
  const [local = '', domain = '', ...rest] = email.split('@')
  const atoms = local.split('.')
  const labels = domain.split('.')
  const isAtom = (text: string) => /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+$/i.test(text)
  const isLabel = (text: string) =>
    /^[a-z0-9-]+$/i.test(text) && text.length <= 63 && !text.startsWith('-') && !text.endsWith('-')
  const fits = local.length <= 64 && email.length <= 254
  return rest.length === 0 && fits && atoms.every(isAtom) && labels.length > 1 && labels.every(isLabel)
}

const atom = fc.oneof(
  fc.constantFrom(
    'a',
    'A.b',
    "o'neil",
    'a+b',
    '',
    '.a',
    'a.',
    'a..b',
    '"a b"',
    'é',
    'a b',
    'a@b',
    '\0',
    '-',
    '{|}~',
  ),
  fc.integer({ min: 62, max: 66 }).map((length) => 'a'.repeat(length)),
  fc.integer({ min: 30, max: 33 }).map((length) => `${'a'.repeat(length)}.${'b'.repeat(length)}`),
)
const label = fc.oneof(
  fc.constantFrom(
    'example',
    'X-1',
    '00',
    'localhost',
    '',
    '-a',
    'a-',
    'a_b',
    'é',
    'xn--bcher-kva',
    '[127',
    '1]',
    'a b',
  ),
  fc.integer({ min: 61, max: 65 }).map((length) => 'b'.repeat(length)),
)
const candidates = fc.oneof(
  fc.emailAddress(),
  fc.tuple(atom, fc.array(label, { maxLength: 5 })).map(([local, labels]) => `${local}@${labels.join('.')}`),
  fc.string({ maxLength: 12 }),
)

let cairn: Cairn
let headers: Record<string, string>

beforeAll(async () => {
  cairn = await sharedCairn()
  const workspace = await cairn.workspace()
  headers = {
    ...(await signIn(cairn, await newMember(cairn, workspace, 'owner'))),
    'content-type': 'application/json',
  }
})

/** Whether the server accepts the text as an address to invite. */
async function isTaken(email: string): Promise<boolean> {
  const body = JSON.stringify({ email, role: 'viewer' })
  const { status } = await cairn.fetch('/invitations', { method: 'POST', headers, body })
  expect([201, 400]).toContain(status)
  return status === 201
}

describe('an email address', () => {
  it('is the same for the contract, RFC 5321 and the command line', () => {
    fc.assert(
      fc.property(candidates, (email) => {
        const expected = isMailbox(email)
        expect([isDeclared(email), EMAIL.test(email)]).toEqual([expected, expected])
      }),
      { numRuns: 5_000 },
    )
  })

  it('is accepted by the server if and only if the contract accepts it', async () => {
    const check = async (email: string) => {
      expect(await isTaken(email)).toBe(isDeclared(email))
    }
    await fc.assert(fc.asyncProperty(candidates, check), { numRuns: 300 })
  })

  it.each([
    ['ada@localhost', false],
    ['0@00', false],
    ['"ada lovelace"@example.com', false],
    [`${'a'.repeat(64)}@example.com`, true],
    [`${'a'.repeat(65)}@example.com`, false],
    [`ada@${'b'.repeat(63)}.com`, true],
    [`ada@${'b'.repeat(64)}.com`, false],
    [`a@${'b.'.repeat(125)}cc`, true],
    [`a@${'b.'.repeat(125)}ccc`, false],
  ])('%s: %s', async (email, isAllowed) => {
    expect([isDeclared(email), await isTaken(email)]).toEqual([isAllowed, isAllowed])
  })
})
