// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { describe, expect } from 'vitest'
import type { DB } from '../../generated/tables.ts'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { runDeclared } from '../../server/storage/effects.ts'
import {
  deleteDefinition,
  insertDefinition,
  type StoredDefinition,
  updateDefinition,
} from '../../server/storage/tables/event-definitions.ts'
import { insertJourney, updateJourney } from '../../server/storage/tables/journeys.ts'
import { insertServiceKey, serviceKeys, updateServiceKey } from '../../server/storage/tables/service-keys.ts'
import { updateSettings } from '../../server/storage/tables/workspaces.ts'
import type { Cairn } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { engine } from '../fixtures/engine.ts'
import { it } from '../fixtures/it.ts'
import { within } from '../fixtures/within.ts'

/** Runs a change next to the server, as a command does. */
function outside<Result>(cairn: Cairn, work: (db: Transaction<DB>) => Promise<Result>): Promise<Result> {
  return inStore(cairn.databaseUrl, work)
}

function newKey(workspace_id: string, token: string) {
  return {
    key_id: newId('key'),
    workspace_id,
    kind: 'secret' as const,
    name: 'Made outside',
    token,
    allowed_origins: [],
    rate_limit: null,
    created_ms: Date.now(),
    expires_ms: null,
  }
}

describe('what another program has created', () => {
  it('is usable at once: a workspace, its keys and its journey', async ({ cairn }) => {
    for (let round = 0; round < 5; round += 1) {
      const { workspace, event } = await customerInJourney(cairn)
      expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
      const { error } = await cairn.client(workspace.publishable_key).createEvent({ body: event })
      expect(error).toBeUndefined()
    }
  })

  it('is usable at once, even if it was requested in vain a moment before', async ({
    cairn,
    workspace,
    event,
  }) => {
    const token = newServiceKey('secret')
    const client = cairn.client(token)
    const journey_id = newId('jrn')
    const customer = { client_customer_id: 'u', customer_type: 'contact', customer_name: 'Ada' } as const
    expect((await client.listEvents()).error?.code).toBe('unauthorized')
    expect(
      (await workspace.client.initializeCustomer({ body: { ...customer, journey_id } })).error?.code,
    ).toBe('journey_not_found')
    const { workspace_id } = workspace
    await outside(cairn, async (db) => {
      await insertServiceKey(db, newKey(workspace_id, token))
      const journey = { journey_id, name: 'Renewal', description: '', steps: [], created_ms: Date.now() }
      await insertJourney(db, workspace_id, journey)
    })
    expect((await client.initializeCustomer({ body: { ...customer, journey_id } })).response.status).toBe(201)

    const notYet = await client.createEvent({ body: { ...event, journey_id } })
    expect(notYet.error?.code).toBe('customer_not_in_journey')
    const columns = { sqlite: 'journey_ref, customer_ref', postgres: 'workspace_id, journey_id, customer_id' }
    const enrolled = sql.raw(columns[engine])
    const enrolment = sql`INSERT INTO enrolments (${enrolled}, enrolled_ms)
      SELECT ${enrolled}, ${Date.now()} FROM customers JOIN journeys USING (workspace_id)
      WHERE customer_id = ${event.customer_id} AND journey_id = ${journey_id}`
    await outside(cairn, (db) => runDeclared(db, ['enrolments'], enrolment))
    expect((await client.createEvent({ body: { ...event, journey_id } })).response.status).toBe(201)
  })
})

describe('what another program has changed', () => {
  it('is seen within a second: a revoked key', async ({ cairn, workspace }) => {
    expect((await workspace.client.listEvents()).response.status).toBe(200)
    await outside(cairn, async (db) => {
      for (const { key_id } of await serviceKeys(db, workspace.workspace_id)) {
        await updateServiceKey(db, key_id, { revoked_ms: Date.now() })
      }
    })
    await within(1, async () => {
      expect((await workspace.client.listEvents()).error?.code).toBe('unauthorized')
    })
  })

  it('is seen within a second: an archived and a restored journey', async ({ cairn, workspace, event }) => {
    const { workspace_id, journey_id, client } = workspace
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
    for (const [status, code] of [
      ['archived', 'journey_archived'],
      ['active', undefined],
    ] as const) {
      await outside(cairn, (db) =>
        updateJourney(db, workspace_id, journey_id, { status, updated_ms: Date.now() }),
      )
      await within(1, async () => {
        expect((await client.createEvent({ body: event })).error?.code).toBe(code)
      })
    }
  })

  it('is seen within a second: customer protection', async ({ cairn, workspace }) => {
    const { workspace_id, journey_id, publishable_key } = workspace
    const page = cairn.client(publishable_key)
    const names = { customer_type: 'contact', customer_name: 'Ada', journey_id } as const
    const asked = async () => {
      const body = { ...names, client_customer_id: randomUUID() }
      return (await page.initializeCustomer({ body })).data?.created
    }
    expect(await asked()).toBe(false)
    for (const isProtected of [false, true]) {
      await outside(cairn, (db) => updateSettings(db, workspace_id, { protect_customers: isProtected }))
      await within(1, async () => expect(await asked()).toBe(!isProtected))
    }
  })

  it('decides within a second how events are checked', async ({ cairn, workspace, event }) => {
    const { workspace_id, client } = workspace
    const code = async () => (await client.createEvent({ body: event })).error?.code
    expect(await code()).toBeUndefined()
    const definition: StoredDefinition = {
      definition_id: newId('def'),
      event_id: event.event_id,
      revision: 1,
      description: '',
      mode: 'enforce',
      variables: { type: 'object', properties: { plan: {} }, required: ['plan'] },
      previous_until_ms: null,
      created_ms: Date.now(),
      updated_ms: Date.now(),
    }
    await outside(cairn, (db) => insertDefinition(db, workspace_id, definition))
    await within(1, async () => expect(await code()).toBe('event_not_as_defined'))
    const after = { ...definition, mode: 'warn' as const }
    await outside(cairn, (db) => updateDefinition(db, workspace_id, definition, after))
    await within(1, async () => expect(await code()).toBeUndefined())
    await outside(cairn, (db) => deleteDefinition(db, workspace_id, definition.definition_id))
    await outside(cairn, (db) => updateSettings(db, workspace_id, { unknown_events: 'reject' }))
    await within(1, async () => expect(await code()).toBe('unknown_event'))
  })

  it('is seen within a second, repeatedly', async ({ cairn, workspace }) => {
    const { workspace_id, client } = workspace
    for (const revoked_ms of [Date.now(), null, Date.now(), null]) {
      await outside(cairn, async (db) => {
        for (const { key_id } of await serviceKeys(db, workspace_id)) {
          await updateServiceKey(db, key_id, { revoked_ms })
        }
      })
      await within(1, async () => {
        expect((await client.listEvents()).response.status).toBe(revoked_ms === null ? 200 : 401)
      })
    }
  })
})
