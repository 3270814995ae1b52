// engines: sqlite (its files and their owners)

import { chownSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { openSecretBox } from '../../../server/webhooks/secret-box.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServer } from '../../fixtures/child-server.ts'
import { spawnCairn } from '../../fixtures/command.ts'
import { initialize } from '../../fixtures/customer.ts'
import { withPatience } from '../../fixtures/patience.ts'

/** The user and the group of a service. */
const SERVICE = 65_534

function newFolder() {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder)
  chownSync(folder, SERVICE, SERVICE)
  return { folder, databaseUrl: `sqlite:${join(folder, 'cairn.db')}` }
}

/** A folder of the service, in which root creates a store. */
async function newStore() {
  const { folder, databaseUrl } = newFolder()
  const workspace = await createWorkspace(databaseUrl, { workspace: 'A', journey: 'B' })
  const run = (...args: string[]) => spawnCairn(args, { environment: { DATABASE_URL: databaseUrl } }).ended
  return { folder, databaseUrl, workspace, run }
}

/** The names in a folder whose owner is not the service. */
function ofOthers(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => statSync(join(folder, name)).uid !== SERVICE)
}

describe.skipIf(process.getuid?.() !== 0)('the owner of a folder in which root works also owns', () => {
  it('the files of a server', async () => {
    const { folder, databaseUrl, workspace } = await newStore()
    const server = await startChildServer({ databaseUrl })
    const client = server.client(workspace.secret_key)
    const customer_id = await initialize({ ...workspace, client }, 'user-1')
    await client.createEvent({ body: { journey_id: 'jrn_none', customer_id, event_id: 'signed_up' } })
    await client.eraseCustomer({ path: { customer_id } })
    const isThere = (suffix: string) => existsSync(sqlitePath(databaseUrl) + suffix)
    const suffixes = ['', '-standings', '-refusals', '-erasures', '.lock']
    await vi.waitUntil(() => suffixes.every(isThere), withPatience)
    await server.end('SIGTERM')
    expect(ofOthers(folder)).toEqual([])
  })

  it('the key that encrypts secrets, which root can read', async () => {
    const { folder, databaseUrl } = await newStore()
    const open = () => openSecretBox({ encryptionKey: undefined, databaseUrl })
    const sealed = open()?.seal('whsec_1', 'whk_1') ?? ''
    expect(ofOthers(folder)).toEqual([])
    expect(open()?.open(sealed, 'whk_1')).toEqual({ secret: 'whsec_1' })
  })

  it('a restored store, and the replaced one', async () => {
    const { folder, run } = await newStore()
    const backup = join(temporaryFolder(), 'backup.db')
    expect(await run('backup', backup)).toMatchObject({ code: 0 })
    expect(await run('restore', backup)).toMatchObject({ code: 0 })
    expect(readdirSync(folder).join()).toMatch('.replaced-')
    expect(ofOthers(folder)).toEqual([])
  })

  it('a backup, but none in a folder of root', async () => {
    const { folder, run } = await newStore()
    await run('backup', join(folder, 'backup.db'))
    expect(ofOthers(folder)).toEqual([])
    const other = temporaryFolder()
    await run('backup', join(other, 'backup.db'))
    expect(ofOthers(other)).toEqual(['backup.db'])
  })

  it('the folder of the default store, which init creates', async () => {
    const { folder } = newFolder()
    const init = ['init', '--workspace', 'A', '--journey', 'B']
    expect(await spawnCairn(init, { folder }).ended).toMatchObject({ code: 0 })
    expect(readdirSync(join(folder, 'data'))).toContain('cairn.db')
    expect(ofOthers(folder)).toEqual([])
  })

  it('the target of a copy', async () => {
    const { run, databaseUrl } = await newStore()
    const { folder, databaseUrl: to } = newFolder()
    expect(await run('copy', '--from', databaseUrl, '--to', to)).toMatchObject({ code: 0 })
    expect(ofOthers(folder)).toEqual([])
  })
})
