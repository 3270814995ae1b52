// engines: postgres (only there a server waits for the changes of others)

import { expect, it, vi } from 'vitest'
import { commandLine } from '../../server/storage/tables/audit-log.ts'
import { changeServiceKey, renameWorkspace } from '../../server/storage/tables/audited-changes.ts'
import { serviceKeys } from '../../server/storage/tables/service-keys.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { inStore } from '../fixtures/in-store.ts'
import { withPatience } from '../fixtures/patience.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { runSql } from '../fixtures/postgres/sql.ts'

const WAITING = `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

type Changed = { owner: SignedUp; key_id: string; databaseUrl: string }

it.each<{ action: string; change: (changed: Changed) => Promise<unknown> }>([
  {
    action: 'workspace_renamed',
    change: ({ owner }) => owner.client().updateWorkspace({ body: { name: `${owner.email} & co` } }),
  },
  { action: 'workspace_archived', change: ({ owner }) => owner.client().archiveWorkspace() },
  {
    action: 'service_key_rotated',
    change: ({ key_id, databaseUrl }) =>
      runCairn(['key', 'rotate', key_id, '--grace', '1d'], { environment: { DATABASE_URL: databaseUrl } }),
  },
])('puts $action after what another process has changed while it waited', async ({ action, change }) => {
  const cairn = await startCairnForTest()
  const { databaseUrl } = cairn
  const workspace = await cairn.workspace()
  const { workspace_id } = workspace
  const owner = await signUp(cairn, workspace, 'owner')
  const changing = await inStore(databaseUrl, async (db) => {
    const [key] = await serviceKeys(db, workspace_id)
    if (!key) throw new Error('the workspace has no key')
    const { key_id } = key
    const changing = change({ owner, key_id, databaseUrl })
    await vi.waitUntil(async () => (await runSql(databaseUrl, WAITING)).length > 0, withPatience)
    await renameWorkspace(db, workspace_id, owner.email, commandLine(Date.now()))
    await changeServiceKey(db, key, { name: 'Importer' }, commandLine(Date.now()))
    return { done: changing }
  })
  await changing.done
  const { data } = await owner.client().listAuditLog({ query: { limit: 3 } })
  expect(data?.data.map((entry) => entry.action)).toEqual([
    action,
    'service_key_updated',
    'workspace_renamed',
  ])
})
