// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { isVisible } from '../../admin/parts/visible-name.ts'
import { inStore } from '../../server/cli/store.ts'
import { isGivenName } from '../../server/domain/names.ts'
import { contractDocument } from '../fixtures/contract/document.ts'
import { it } from '../fixtures/it.ts'
import { signUp } from '../fixtures/people.ts'

const REFUSED = [
  ' ',
  '\t\n',
  '\u00a0\u3000',
  '\u200b',
  '\ufeff',
  '\u00ad\u2060',
  '\u3164',
  '\u2800',
  '\u0001',
]
const GIVEN = ['.', ' a ', 'a\u200b', '\u200b山', '👩\u200d💻', '\u0301']
const detail = 'must contain a visible character and no NUL character'

describe('a name of white space or invisible characters only', () => {
  it('is refused for a customer, a journey and its steps, and a visible one is accepted', async ({
    workspace,
  }) => {
    const { client, journey_id } = workspace
    const names = { client_customer_id: 'user-1', journey_id, customer_type: 'contact' } as const
    const step = (name: string) => [{ event_id: ' ', name }]
    for (const name of REFUSED) {
      const answers = await Promise.all([
        client.initializeCustomer({ body: { ...names, customer_name: name } }),
        client.createJourney({ body: { name } }),
        client.updateJourney({ path: { journey_id }, body: { name } }),
        client.createJourney({ body: { name: 'Journey', steps: step(name) } }),
      ])
      const pointers = ['/customer_name', '/name', '/name', '/steps/0/name']
      expect(answers.map(({ error }) => error)).toMatchObject(
        pointers.map((pointer) => ({ status: 400, errors: [{ pointer, detail }] })),
      )
    }
    for (const name of GIVEN) {
      const { data } = await client.initializeCustomer({ body: { ...names, customer_name: name } })
      expect(data).toBeDefined()
      const journey = await client.createJourney({ body: { name, steps: step(name) } })
      expect(journey.data).toMatchObject({ name, steps: step(name) })
    }
  })

  it('is refused for a key', async ({ cairn }) => {
    const person = await signUp(cairn, await cairn.workspace(), 'owner')
    const body = { kind: 'secret', name: '\u200b ' }
    const answer = await person.fetch('POST /service-keys', { body })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/name', detail }] })
  })

  it('is refused for a person and a workspace', async ({ cairn }) => {
    const person = await signUp(cairn, await cairn.workspace(), 'owner')
    const body = { name: '\u200b ' }
    for (const request of ['POST /session/name', 'POST /workspaces', 'PATCH /workspace']) {
      const answer = await person.fetch(request, { body })
      expect([request, answer.status]).toEqual([request, 400])
      expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/name', detail }] })
    }
  })

  it('stays readable if it exists already', async ({ cairn, workspace }) => {
    const { client, journey_id, workspace_id } = workspace
    const names = { client_customer_id: 'user-1', journey_id, customer_type: 'contact' } as const
    await client.initializeCustomer({ body: { ...names, customer_name: 'Ada' } })
    const steps = JSON.stringify([{ event_id: 'a', name: '\u200b' }])
    await inStore(cairn.databaseUrl, async (db) => {
      const blank = { customer_name: ' ', name_key: '' }
      await db.updateTable('customers').set(blank).where('workspace_id', '=', workspace_id).execute()
      const journey = { name: ' ', steps }
      await db.updateTable('journeys').set(journey).where('workspace_id', '=', workspace_id).execute()
    })
    expect((await client.listCustomers()).data?.data).toMatchObject([{ customer_name: ' ' }])
    expect((await client.listCustomers({ query: { search: 'user' } })).data?.data).toHaveLength(1)
    expect((await client.listJourneys()).data?.data).toMatchObject([
      { name: ' ', steps: [{ name: '\u200b' }] },
    ])
    await client.initializeCustomer({ body: { ...names, customer_name: 'Ada' } })
    expect((await client.listCustomers({ query: { search: 'ada' } })).data?.data).toHaveLength(1)
  })

  it('has the same rule in the command line, the forms and the contract, and is checked quickly at any length', () => {
    const { components } = contractDocument() as {
      components: { schemas: Record<string, { pattern: string }> }
    }
    const { pattern = '' } = components.schemas.GivenName ?? {}
    // Other programs compile it with the flag or without.
    for (const seen of [new RegExp(pattern, 'u'), new RegExp(pattern)]) {
      const differing = []
      for (let code = 0; code < 2 ** 16; code += 1) {
        const name = ` ${String.fromCharCode(code)}`
        const isGiven = seen.test(name)
        if (isGiven !== isGivenName(name) || isGiven !== isVisible(name)) differing.push(code.toString(16))
      }
      expect(differing).toEqual([])
      expect(seen.test(`${' a'.repeat(500_000)}\0`)).toBe(false)
      expect(seen.test(' '.repeat(1_000_000))).toBe(false)
    }
  })
})
