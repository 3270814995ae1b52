// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import type { Transaction } from '../../server/storage/database.ts'
import { openTransferableStore } from '../../server/storage/open.ts'
import { insertPerson } from '../../server/storage/tables/people.ts'
import type { Row } from '../../server/storage/transfer/tables.ts'
import { CopyDiffers, TargetNotEmpty, transfer } from '../../server/storage/transfer/transfer.ts'
import type { TransferableStore } from '../../server/storage/transfer/transferable-store.ts'
import { newStore, startCairnForTest, unmadeStore } from '../fixtures/cairn.ts'
import { filled } from '../fixtures/copied-store.ts'
import { inStore } from '../fixtures/in-store.ts'

/** Copies a store; `change` may replace operations of the two. */
async function copied(
  from: string,
  to: string,
  change: (stores: { source: TransferableStore; target: TransferableStore }) => object = () => ({}),
  erased: { workspace_id: string; customer_id: string }[] = [],
) {
  const stores = { source: await openTransferableStore(from), target: await openTransferableStore(to) }
  try {
    const { source, target } = { ...stores, ...change(stores) }
    return await transfer(source, target, { erased, report: () => {} })
  } finally {
    for (const store of Object.values(stores)) await store.close()
  }
}

/** Methods of classes are not enumerable, so a copy of a store names them. */
function withChanges(store: TransferableStore, changes: Partial<TransferableStore>): TransferableStore {
  return {
    read: (...args) => store.read(...args),
    write: (...args) => store.write(...args),
    progress: () => store.progress(),
    count: (table) => store.count(table),
    finish: () => store.finish(),
    close: () => store.close(),
    ...changes,
  }
}

it('does not resume a copy whose source was changed meanwhile', async () => {
  const { cairn, workspace } = await filled()
  await workspace.client.defineEvent({ body: { event_id: 'signed_up', description: 'A user signed up' } })
  await cairn.stop()
  const to = await unmadeStore()
  const stopsAtEvents = ({ target }: { target: TransferableStore }) => ({
    target: withChanges(target, {
      write: async (table, ...rest) => {
        if (table === 'events') throw new Error('interrupted')
        await target.write(table, ...rest)
      },
    }),
  })
  await expect(copied(cairn.databaseUrl, to, stopsAtEvents)).rejects.toThrow('interrupted')

  type Change = (db: Transaction, from: string, to: string) => { execute: () => Promise<unknown> }
  const renamed =
    (table: 'journeys' | 'views' | 'service_keys'): Change =>
    (db, from, to) =>
      db.updateTable(table).set({ name: to }).where('name', '=', from)
  const changes: [what: string, value: string, Change][] = [
    ['a journey', 'Renewal', renamed('journeys')],
    ['views', 'Teams', renamed('views')],
    ['a key', 'First secret key', renamed('service_keys')],
    [
      'a role',
      'owner',
      (db, from, to) => db.updateTable('members').set({ role: to }).where('role', '=', from),
    ],
    [
      'a definition',
      'A user signed up',
      (db, from, to) =>
        db.updateTable('event_definition_revisions').set({ description: to }).where('description', '=', from),
    ],
  ]
  for (const [what, value, change] of changes) {
    await inStore(cairn.databaseUrl, async (db) => await change(db, value, 'viewer').execute())
    await expect(copied(cairn.databaseUrl, to), what).rejects.toThrow(TargetNotEmpty)
    await inStore(cairn.databaseUrl, async (db) => await change(db, 'viewer', value).execute())
  }
  expect(await copied(cairn.databaseUrl, to)).toMatchObject({ journeys: 2, events: 7 })
})

it('does not finish a copy whose source is changed meanwhile', async () => {
  const { cairn } = await filled()
  await cairn.stop()
  let isCopied = false
  const changing = ({ source }: { source: TransferableStore }) => ({
    source: withChanges(source, {
      read: async (table, ...rest) => {
        isCopied ||= table === 'events'
        const page = await source.read(table, ...rest)
        if (!isCopied || table !== 'journeys') return page
        return { ...page, rows: page.rows.map((row) => ({ ...row, name: 'Renamed' })) }
      },
    }),
  })
  const copying = copied(cairn.databaseUrl, await unmadeStore(), changing)
  await expect(copying).rejects.toThrow(new CopyDiffers('the store was changed meanwhile'))
})

it('does not finish a copy that lacks what was stored meanwhile', async () => {
  const { cairn } = await filled()
  await cairn.stop()
  let isRead = false
  const growing = ({ source }: { source: TransferableStore }) => ({
    source: withChanges(source, {
      read: async (table, ...rest) => {
        const page = await source.read(table, ...rest)
        isRead ||= table === 'events' && page.rows.length === 0
        return page
      },
      count: async (table) => (await source.count(table)) + Number(isRead && table === 'events'),
    }),
  })
  const differs = 'events has 8 rows, 7 were copied: the store was changed meanwhile'
  const copying = copied(cairn.databaseUrl, await unmadeStore(), growing)
  await expect(copying).rejects.toThrow(new CopyDiffers(differs))
})

it.each<[what: string, change: (rows: Row[]) => Row[], found: string]>([
  [
    'has other values',
    ([first, ...rest]) => [{ ...first, customer_name: 'Another' }, ...rest],
    '1 were found',
  ],
  ['lacks a row', (rows) => rows.slice(1), '0 were found'],
])('does not finish a copy that %s when it is read again', async (_, change, found) => {
  const { cairn } = await filled()
  await cairn.stop()
  const differing = ({ target }: { target: TransferableStore }) => ({
    target: withChanges(target, {
      read: async (table, ...rest) => {
        const page = await target.read(table, ...rest)
        return table === 'customers' && page.rows.length > 0 ? { ...page, rows: change(page.rows) } : page
      },
    }),
  })
  const to = await unmadeStore()
  const differs = `customers differs from the source: 1 rows were copied, ${found}`
  await expect(copied(cairn.databaseUrl, to, differing)).rejects.toThrow(new CopyDiffers(differs))
  // The same copy, as it is.
  expect(await copied(cairn.databaseUrl, to)).toMatchObject({ customers: 1, events: 7 })
})

it('copies nothing into a store that has one row', async () => {
  const { cairn } = await filled()
  await cairn.stop()
  const to = await newStore()
  const ada = {
    person_id: newId('per'),
    name: 'Ada',
    email: 'ada@example.com',
    password_hash: 'none',
    created_ms: 0,
  }
  await inStore(to, (db) => insertPerson(db, ada))
  const refused = new TargetNotEmpty('its table people is not empty (rows: 1)')
  await expect(copied(cairn.databaseUrl, to)).rejects.toThrow(refused)
})

it('copies no store that lacks a recorded erasure, unless its workspace was removed', async () => {
  const { cairn, workspace, customer_id } = await filled()
  await cairn.stop()
  const { databaseUrl } = cairn
  const { workspace_id } = workspace
  const to = await unmadeStore()
  const copy = () => copied(databaseUrl, to, undefined, [{ workspace_id, customer_id }])
  await expect(copy()).rejects.toThrow('has customers that were erased')
  await inStore(
    databaseUrl,
    async (db) => await db.updateTable('workspaces').set({ removed_ms: 1 }).execute(),
  )
  expect(await copy()).toMatchObject({ customers: 1, events: 7 })
})

it('copies events that can be listed by their time, also those received after the clock was set back', async () => {
  let ahead_ms = 0
  const { cairn, workspace, event } = await filled({ now: () => Date.now() + ahead_ms })
  ahead_ms = -3_600_000
  const { data } = await workspace.client.createEvent({ body: event })
  await cairn.stop()
  const to = await unmadeStore()
  await copied(cairn.databaseUrl, to)

  const there = await startCairnForTest({ databaseUrl: to })
  const received_from = data?.received_at ?? ''
  const received_to = new Date(Date.parse(received_from) + 1).toISOString()
  const query = { received_from, received_to }
  const listed = (await there.client(workspace.secret_key).listEvents({ query })).data?.data
  expect(listed?.map(({ id }) => id)).toContain(data?.id)
})
