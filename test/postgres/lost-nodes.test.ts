// engines: postgres (nodes of Citus; SQLite has none)

import { describe, expect, it } from 'vitest'
import { seenFromOutside } from '../../server/storage/postgres/connection/outages.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { beginAgeing } from '../../server/storage/removals/retention.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { newSubject, openStoreForTest } from '../fixtures/store.ts'

/** Refuses rows of one workspace as Citus does if their node is lost. */
async function loseNode(databaseUrl: string, table: string, workspace: string) {
  await runSql(
    databaseUrl,
    `CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'connection to the remote node failed' USING ERRCODE = '08006'; END $$`,
    `CREATE TRIGGER is_lost BEFORE INSERT ON ${table}
      FOR EACH ROW WHEN (NEW.workspace_id::text = '${workspace}') EXECUTE FUNCTION lost()`,
  )
}

describe('a lost node of Citus', () => {
  it.skipIf(isDistributed)('is an outage for its workspaces, and the others go on', async () => {
    const cairn = await startCairnForTest()
    const [there, ...here] = await Promise.all(Array.from({ length: 6 }, () => customerInJourney(cairn)))
    if (!there) throw new Error('no workspace')
    const node = uuidOf(there.workspace.workspace_id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    await loseNode(cairn.databaseUrl, 'event_arrivals', node)
    const send = async ({ workspace, event }: typeof there) =>
      (await workspace.client.createEvent({ body: event })).response.status
    // More workspaces than connections: some wait while one fails.
    const turns = Array.from({ length: 20 }, () => [send(there), ...here.map(send)])
    const statuses = await Promise.all(turns.map((turn) => Promise.all(turn)))
    expect(statuses).toEqual(turns.map(() => [503, ...here.map(() => 201)]))
  })

  it.each([
    ['08006', 'ReportConnectionError'],
    ['XX000', 'MarkRemoteTransactionFailed'],
    ['XX000', 'CheckRemoteTransactionsHealth'],
    ['XX000', 'ReportResultError'],
    ['58030', 'EndRemoteCopy'],
  ])('is recognized by %s of %s', (code, routine) => {
    const error = Object.assign(new Error('SSL SYSCALL error: EOF detected'), {
      severity: 'ERROR',
      code,
      routine,
    })
    expect(seenFromOutside(error)).toEqual(new Unavailable('storage_unavailable', error))
  })

  it('is not suspected behind any internal error', () => {
    const error = Object.assign(new Error('cache lookup failed'), {
      severity: 'ERROR',
      code: 'XX000',
      routine: 'get_attribute_options',
    })
    expect(seenFromOutside(error)).toBe(error)
  })
})

it.skipIf(isDistributed)('begins the retention of every workspace, though that of one fails', async () => {
  const databaseUrl = await newDatabase()
  const store = await openStoreForTest({ databaseUrl })
  const [failing, ...others] = [await newSubject(store), await newSubject(store), await newSubject(store)]
  await loseNode(databaseUrl, 'removals', failing.workspace_id)
  await runSql(databaseUrl, 'UPDATE workspaces SET retention_days = 1')
  await expect(beginAgeing(store.db, Date.now())).rejects.toThrow('storage_unavailable')
  expect(
    await runSql(
      databaseUrl,
      'SELECT workspace_id FROM workspaces WHERE events_since_ms IS NOT NULL ORDER BY 1',
    ),
  ).toEqual(
    others
      .map(({ workspace_id }) => ({ workspace_id }))
      .sort((a, b) => (a.workspace_id < b.workspace_id ? -1 : 1)),
  )
})
