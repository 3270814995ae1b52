// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findErasure } from '../../server/storage/removals/erasures.ts'
import { findCustomer } from '../../server/storage/tables/customers.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { initialize as initializeIn } from '../fixtures/customer.ts'
import { engine, isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import {
  connectTo,
  idOf,
  initialize,
  insert,
  newSubject,
  openStore,
  openStoreForTest,
} from '../fixtures/store.ts'
import { completed, erase } from './erase.ts'
import { copyOf } from './older-store.ts'

// A database of several nodes cannot be copied.
it.skipIf(isDistributed)(
  'repeats erasures after an older store is restored, even of customers who are not in it yet',
  async () => {
    const erasuresFile = join(temporaryFolder(), 'erased')
    const first = await openStore({ erasuresFile })
    const subject = await newSubject(first)
    const { workspace_id, customer_id } = subject
    await insert(first, subject)
    await first.close()
    const older = await copyOf(first.databaseUrl)

    const second = await openStore({ databaseUrl: first.databaseUrl, erasuresFile })
    const later = { ...subject, customer_id: idOf(await initialize(second, subject, 'user-2')) }
    await erase(second, subject)
    await erase(second, later)
    await second.close()
    const noted = readFileSync(erasuresFile, 'utf8')
    expect(noted).toContain(customer_id)
    expect(noted).not.toContain('user-1')
    // The process was killed, and another store has added an entry too.
    const strange = { workspace_id: randomUUID(), customer_id: randomUUID(), own_digest: null, erased_ms: 1 }
    appendFileSync(erasuresFile, `{"workspace_id":"w\n${JSON.stringify(strange)}\n`)

    const third = await openStoreForTest({ databaseUrl: older, erasuresFile })
    expect(await findCustomer(third.db, workspace_id, customer_id)).toBeUndefined()
    const code = { code: 'customer_erased' }
    expect(await insert(third, subject)).toMatchObject(code)
    expect(await initialize(third, subject, 'user-1')).toMatchObject(code)
    expect(await initialize(third, subject, 'user-2')).toMatchObject(code)
    await completed(third, subject)
    expect(await findErasure(third.db, workspace_id, customer_id)).toMatchObject({ events: 1 })
    expect(await findErasure(third.db, workspace_id, later.customer_id)).toMatchObject({ events: 0 })
  },
)

it('records erasures from elsewhere when it starts', async () => {
  const first = await openStore()
  const subject = await newSubject(first)
  await erase(first, subject)
  await first.close()
  const { workspace_id, customer_id } = subject
  // More than one statement reads.
  const { run } = await connectTo(first.databaseUrl)
  await run(`INSERT INTO erasures (workspace_id, customer_id, erased_ms, number)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
    SELECT '${workspace_id}', 'cus_' || n, 0, n + 1 FROM numbers`)
  const erasuresFile = join(temporaryFolder(), 'erased')
  await openStoreForTest({ databaseUrl: first.databaseUrl, erasuresFile })
  const lines = readFileSync(erasuresFile, 'utf8').split('\n').filter(Boolean)
  const noted = new Set(lines.map((line) => JSON.parse(line).customer_id))
  expect([lines.length, noted.size, noted.has(customer_id)]).toEqual([10_001, 10_001, true])
})

it('records every erasure before it is answered, and once', async () => {
  const erasuresFile = join(temporaryFolder(), 'erased')
  const cairn = await startCairnForTest({ erasuresFile })
  const workspace = await cairn.workspace()
  const { client } = workspace
  const noted = () => readFileSync(erasuresFile, 'utf8').split('\n').filter(Boolean)
  const eraseOne = async (customer_id: string) => {
    const send = () => client.eraseCustomer({ path: { customer_id } })
    let { response } = await send()
    // On a busy machine the last transactions may wait too long, and are refused.
    while (response.status === 503) response = (await send()).response
    return { status: response.status, isNoted: noted().some((line) => line.includes(customer_id)) }
  }
  const erased: Awaited<ReturnType<typeof eraseOne>>[] = []
  for (let round = 0; round < 10; round += 1) {
    const names = Array.from({ length: 10 }, (_, index) => `user-${round}-${index}`)
    const ids = await Promise.all(names.map((name) => initializeIn(workspace, name)))
    erased.push(...(await Promise.all(ids.map(eraseOne))))
  }
  expect(erased).toEqual(Array(100).fill({ status: 200, isNoted: true }))
  const pending = async () =>
    (await client.listErasures({ query: { limit: 100 } })).data?.data.filter((each) => !each.completed_at)
  await expect.poll(pending, withPatience).toEqual([])
  expect(noted()).toHaveLength(100)
})

it('answers an erasure that cannot be recorded, and removes nothing until it can', async () => {
  const erasuresFile = join(temporaryFolder(), 'erased')
  const cairn = await startCairnForTest({ erasuresFile })
  const workspace = await cairn.workspace()
  const customer_id = await initializeIn(workspace, 'user-1')
  rmSync(erasuresFile)
  mkdirSync(erasuresFile)
  const erase = async () => (await workspace.client.eraseCustomer({ path: { customer_id } })).data
  expect(await erase()).toMatchObject({ customer_id, completed_at: null })
  await expect.poll(() => JSON.stringify(cairn.log), withPatience).toContain('EISDIR')
  expect(await erase()).toMatchObject({ completed_at: null })
  rmdirSync(erasuresFile)
  await expect.poll(async () => (await erase())?.completed_at, withPatience).toEqual(expect.any(String))
  expect(readFileSync(erasuresFile, 'utf8')).toContain(customer_id)
})

it('does not start if erasures cannot be recorded', async () => {
  await expect(openStore({ erasuresFile: temporaryFolder() })).rejects.toThrow(/EISDIR/)
})

it('closes everything if an erasure of the store cannot be recorded, and starts once it can', async () => {
  const first = await openStore()
  const { databaseUrl } = first
  await erase(first, await newSubject(first))
  await first.close()
  const file = join(temporaryFolder(), 'a file')
  writeFileSync(file, '')
  const failing = openStore({ databaseUrl, erasuresFile: join(file, 'erased') })
  await expect(failing).rejects.toThrow(/ENOTDIR|EEXIST/)
  if (engine === 'postgres') {
    const connections = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'cairn'`
    await expect.poll(() => runSql(databaseUrl, connections)).toEqual([])
  }
  await openStoreForTest({ databaseUrl, erasuresFile: join(temporaryFolder(), 'erased') })
})
