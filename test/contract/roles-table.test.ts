// engines: sqlite (a role is checked before the store is asked for more than the key)

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ContractOperation, contractDocument, operations } from '../fixtures/contract/document.ts'
import { openTarget, type Target } from '../fixtures/contract/target.ts'
import { newMember, signIn } from '../fixtures/people.ts'
import { namesFor, newPlace, sendTo } from './requests.ts'

const COLUMNS = ['viewer', 'admin', 'owner', 'secret key'] as const

/** A row of the table: for each column whether the operation may be called, and where only with a condition. */
type Row = { operationId: string; may: string[]; conditional: string[] }

const { tags } = contractDocument() as { tags: { name: string; description: string }[] }
const table = rowsOf(tags.find(({ name }) => name === 'Members')?.description ?? '')

function rowsOf(text: string): Row[] {
  const lines = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const head = lines.findIndex(([, first]) => first === 'operations')
  expect(lines[head]?.slice(2, -1)).toEqual([...COLUMNS])
  const after = lines.slice(head + 2)
  return after
    .slice(
      0,
      after.findIndex((cells) => cells.length < 2),
    )
    .flatMap(([, names = '', ...cells]) => {
      expect(cells.every((cell) => ['', 'yes', 'yes¹'].includes(cell))).toBe(true)
      return [...names.matchAll(/`(\w+)`/g)].map(([, operationId = '']) => ({
        operationId,
        may: COLUMNS.filter((_, index) => cells[index]?.startsWith('yes')),
        conditional: COLUMNS.filter((_, index) => cells[index] === 'yes¹'),
      }))
    })
}

/** The operation's declared roles. If it is about no workspace, everybody who is signed in may call it. */
function declared({ accepts, roles = ['viewer', 'admin', 'owner'] }: ContractOperation): string[] {
  const may: string[] = accepts.includes('SessionCookie') ? [...roles] : []
  if (accepts.includes('SecretKey')) may.push('secret key')
  return COLUMNS.filter((column) => may.includes(column))
}

const withCredential = operations.filter(({ accepts }) => accepts.length > 0)

describe('the table of roles in the contract', () => {
  it('lists every operation that needs a credential, once', () => {
    expect(table.map(({ operationId }) => operationId).sort()).toEqual(
      withCredential.map(({ operationId }) => operationId).sort(),
    )
  })

  it.each(withCredential.map((operation) => [operation.operationId, operation] as const))(
    'describes %s as the operation declares it',
    (operationId, operation) => {
      expect(table.find((row) => row.operationId === operationId)?.may).toEqual(declared(operation))
    },
  )
})

describe('what the table allows admins with a condition', () => {
  let target: Target

  beforeAll(async () => {
    target = await openTarget()
  })
  afterAll(() => target.stop())

  const conditional = operations.filter(({ operationId }) =>
    table.some((row) => row.operationId === operationId && row.conditional.length > 0),
  )

  it.each(conditional.map((operation) => [operation.operationId, operation] as const))(
    '%s is only for owners if it is about owners',
    async (operationId, operation) => {
      expect(table.find((row) => row.operationId === operationId)?.conditional).toEqual(['admin'])
      const place = await newPlace(target)
      if (!place.inside) throw new Error('a deployment has no inside')
      const { cairn, workspace } = place.inside
      const admin = await signIn(cairn, await newMember(cairn, workspace, 'admin'))
      // An owner, but neither the last one nor the caller.
      const { person_id } = await newMember(cairn, workspace, 'owner')
      const names = await namesFor(place, operation, { person_id })
      const body = JSON.stringify({
        ...(operationId === 'createInvitation' && { email: names.email }),
        role: 'owner',
      })
      const reply = await sendTo(place, operation, 'person', { headers: admin, names, body })
      expect([reply.status, (await reply.json()).code]).toEqual([403, 'role_not_allowed'])
      const byOwner = await sendTo(place, operation, 'person', { names, body })
      expect(byOwner.ok).toBe(true)
    },
  )
})
