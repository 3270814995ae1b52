// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { newStore, unmadeStore } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { spawnCairn } from '../fixtures/command.ts'
import { connectTo, openStoreForTest } from '../fixtures/store.ts'

function init(databaseUrl: string, workspace: string) {
  const environment = { DATABASE_URL: databaseUrl }
  return spawnCairn(['init', '--workspace', workspace, '--journey', 'Onboarding', '--json'], { environment })
    .ended
}

describe('a new store', () => {
  it('can be created by several programs at once, and all of them succeed', async () => {
    const databaseUrl = await unmadeStore()
    const names = ['A', 'B', 'C', 'D']
    const answers = await Promise.all(names.map((name) => init(databaseUrl, name)))
    expect(answers).toMatchObject(names.map(() => ({ code: 0, stderr: '' })))
    const { run } = await connectTo(databaseUrl)
    expect(await run('SELECT name FROM workspaces ORDER BY name')).toEqual(names.map((name) => ({ name })))
    const other = await connectTo(await newStore())
    const migrated = 'SELECT name FROM kysely_migration ORDER BY name'
    expect(await run(migrated)).toEqual(await other.run(migrated))
  })
})

describe('a store', () => {
  it('keeps its content when it is reopened', async () => {
    const store = await openStoreForTest()
    const { workspace_id } = await createWorkspace(store.databaseUrl, { workspace: 'A', journey: 'B' })
    await store.close()
    const again = await openStoreForTest({ databaseUrl: store.databaseUrl })
    const ids = await again.db.selectFrom('workspaces').select('workspace_id').execute()
    expect(ids).toEqual([{ workspace_id }])
  })
})

describe('a command', () => {
  it('can open the store of a running server', async () => {
    const databaseUrl = await unmadeStore()
    const server = await startChildServer({ databaseUrl })
    expect(await init(databaseUrl, 'A')).toMatchObject({ code: 0, stderr: '' })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })
})
