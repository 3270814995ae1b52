// engines: postgres (what only PostgreSQL has)

import { describe, expect, it, vi } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { idOf, initialize, insert, openStoreForTest } from '../fixtures/store.ts'

/** A database with a workspace, and a function that puts a copy from before in its place, as a restore does. */
async function start({ change = 'SELECT' } = {}) {
  const databaseUrl = await newDatabase()
  const workspace = await createWorkspace(databaseUrl, { workspace: 'Example Ltd', journey: 'Onboarding' })
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  const copyUrl = await newDatabase(nameOf(databaseUrl))
  await runSql(copyUrl, change)
  const otherUrl = await newDatabase()
  const restore = () =>
    runSql(
      otherUrl,
      `DROP DATABASE ${nameOf(databaseUrl)} WITH (FORCE)`,
      `ALTER DATABASE ${nameOf(copyUrl)} RENAME TO ${nameOf(databaseUrl)}`,
    )
  return { databaseUrl, workspace, restore }
}

// A database of several nodes cannot be copied.
describe.skipIf(isDistributed)('a database that is replaced by another under its name', () => {
  it('gets no events of customers that it has not', async () => {
    const { databaseUrl, workspace, restore } = await start()
    const store = await openStoreForTest({ databaseUrl })
    const subject = { ...workspace, customer_id: idOf(await initialize(store, workspace, 'user-1')) }
    expect(await insert(store, subject)).toMatchObject({ status: 'created' })
    await restore()
    await expect(insert(store, subject)).rejects.toMatchObject({ reason: 'storage_unavailable' })
    expect(await runSql(databaseUrl, 'SELECT FROM events')).toEqual([])
  })

  it('gets no events whose resends it would not recognize', async () => {
    const { databaseUrl, workspace, restore } = await start({
      change: 'UPDATE cairn_store SET message_salt = gen_random_uuid()',
    })
    const store = await openStoreForTest({ databaseUrl })
    await restore()
    const current = await openStoreForTest({ databaseUrl })
    const subject = { ...workspace, customer_id: idOf(await initialize(current, workspace, 'user-1')) }
    const message = { message_id: 'signed_up:user-1' }
    expect(await insert(current, subject, message)).toMatchObject({ status: 'created' })
    await expect(insert(store, subject, message)).rejects.toMatchObject({ reason: 'storage_unavailable' })
  })

  it('ends the server, which says so', async () => {
    const { databaseUrl, restore } = await start()
    const server = await startChildServer({ databaseUrl })
    await restore()
    expect(await server.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cairn: .* was replaced/),
    })
  })
})

describe('a store whose tables are created again', () => {
  it('ends the server that had opened it', async () => {
    const databaseUrl = await newDatabase()
    const onDeath = vi.fn()
    await openStoreForTest({ databaseUrl, onDeath })
    await runSql(
      databaseUrl,
      'ALTER TABLE cairn_store RENAME TO replaced_store',
      'CREATE TABLE cairn_store AS TABLE replaced_store',
    )
    await vi.waitUntil(() => onDeath.mock.calls.length > 0, withPatience)
    expect(onDeath).toHaveBeenCalledWith(expect.objectContaining({ name: 'StoreReplaced' }))
  })
})
