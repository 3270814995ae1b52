// engines: sqlite (what only SQLite has)

import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import type { Schemas } from '../../../client/index.ts'
import { createWorkspace } from '../../../server/cli/init.ts'
import {
  type Cairn,
  startCairn,
  startCairnForTest,
  temporaryFolder,
  unmadeStore,
} from '../../fixtures/cairn.ts'
import { serve, startChildServer } from '../../fixtures/child-server.ts'
import { runCairn, spawnCairn } from '../../fixtures/command.ts'
import { initialize } from '../../fixtures/customer.ts'
import { exported } from '../../fixtures/exported.ts'
import { withPatience } from '../../fixtures/patience.ts'
import {
  browser,
  newEmail,
  newMember,
  OWN_PAGE,
  type SignedUp,
  signIn,
  signUp,
} from '../../fixtures/people.ts'
import { newWebhook } from '../../fixtures/webhook.ts'

/** Runs `cairn ARGS` on the store of a server. */
function command({ databaseUrl }: Pick<Cairn, 'databaseUrl'>, ...args: string[]) {
  return runCairn(args, { environment: { DATABASE_URL: databaseUrl } })
}

function pathOf({ databaseUrl }: Pick<Cairn, 'databaseUrl'>): string {
  return databaseUrl.slice('sqlite:'.length)
}

/** A server with two members and an event, and a backup of its store. */
async function newBackup(options: Parameters<typeof startCairn>[0] = {}) {
  const cairn = await startCairn(options)
  const workspace = await cairn.workspace()
  const customer_id = await initialize(workspace, 'user-1')
  const event = { journey_id: workspace.journey_id, customer_id, event_id: 'signed_up' }
  await workspace.client.createEvent({ body: { ...event, message_id: 'first' } })
  const owner = await signUp(cairn, workspace, 'owner')
  const admin = await signUp(cairn, workspace, 'admin')
  const invitation = await owner.client().createInvitation({ body: { email: newEmail(), role: 'admin' } })
  const link = await owner.client().createPasswordLink({ path: { person_id: admin.person_id } })
  await owner.client().updateWorkspace({ body: { view_links: 'on' } })
  const { journey_id } = workspace
  const view = { name: 'All', journey_id, query: {}, visibility: 'workspace' } as const
  const view_id = (await owner.client().createView({ body: view })).data?.view_id ?? ''
  const shared = await owner.client().createViewLink({ path: { view_id }, body: {} })
  const tokens = {
    invitation: invitation.data?.token ?? '',
    password: link.data?.token ?? '',
    view: shared.data?.token ?? '',
  }
  const file = join(temporaryFolder(), 'backup.db')
  const backUp = async () => {
    const made = await command(cairn, 'backup', file)
    expect(made).toMatchObject({ code: 0 })
  }
  return { cairn, workspace, owner, admin, event, tokens, file, backUp }
}

/** The status of reading a session. */
async function sessionStatus(cairn: Cairn, { headers }: Pick<SignedUp, 'headers'>): Promise<number> {
  return (await cairn.fetch('/session', { headers })).status
}

async function keyStatus(cairn: Cairn, key: string): Promise<number> {
  return (await cairn.client(key).listJourneys()).response.status
}

async function linkStatus(cairn: Cairn, path: string, token: string): Promise<number> {
  const headers = { ...OWN_PAGE, 'content-type': 'application/json' }
  const body = JSON.stringify({ token })
  return (await cairn.fetch(path, { method: 'POST', headers, body })).status
}

/** The identifier of a workspace's key of the kind. */
async function keyId(owner: SignedUp, kind: string): Promise<string> {
  const { data } = await owner.client().listServiceKeys()
  return data?.data.find((key) => key.kind === kind)?.key_id ?? ''
}

/** The names of a store's people, by a connection that takes its log into account and finds no damage. */
function namesIn(path: string): string[] {
  const store = new Database(path)
  try {
    expect(store.pragma('integrity_check', { simple: true })).toBe('ok')
    return store.prepare('SELECT name FROM people ORDER BY person_id').pluck().all() as string[]
  } finally {
    store.close()
  }
}

/** What a restore that was killed has left beside a store. */
function partialsBeside(path: string): string[] {
  return readdirSync(dirname(path)).filter((name) => name.includes('partial'))
}

/** Code that kills its process before the step-th change of a name or a file beside the store. */
function killAtStep(step: number): string {
  return `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    let steps = 0
    for (const name of ['mkdirSync', 'copyFileSync', 'linkSync', 'renameSync', 'rmSync']) {
      const change = fs[name]
      fs[name] = (...args) => {
        const isChange = name !== 'rmSync' || fs.existsSync(args[0])
        if (isChange && String(args[0]).includes('cairn.db') && ++steps === ${step}) process.kill(process.pid, 'SIGKILL')
        return change(...args)
      }
    }
    syncBuiltinESMExports()`
}

/** Code that stops its process before or after the removal of a lock, until there is a file with the suffix `.go`. */
function waitAtLock(when: 'before' | 'after'): string {
  return `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const remove = fs.rmSync
    fs.rmSync = (path, options) => {
      if ('${when}' === 'after') remove(path, options)
      if (String(path).endsWith('cairn.db.lock')) {
        fs.writeFileSync(path + '.waiting', '')
        while (!fs.existsSync(path + '.go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
      if ('${when}' === 'before') remove(path, options)
    }
    syncBuiltinESMExports()`
}

/** A restore that fails where there was no store, and waits before or after it removes its lock. */
async function failingRestore(when: 'before' | 'after') {
  const databaseUrl = await unmadeStore()
  const lock = `${pathOf({ databaseUrl })}.lock`
  const file = join(temporaryFolder(), 'backup.db')
  writeFileSync(file, 'no backup')
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(waitAtLock(when))}`
  const { ended } = spawnCairn(['restore', file], {
    environment: { DATABASE_URL: databaseUrl, NODE_OPTIONS },
  })
  await vi.waitUntil(() => existsSync(`${lock}.waiting`), withPatience)
  const fails = async () => {
    writeFileSync(`${lock}.go`, '')
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was changed') })
  }
  return { databaseUrl, fails }
}

describe('cairn restore', () => {
  it('ends sessions and links, and gives no access by what was revoked since', async () => {
    const { cairn, workspace, owner, admin, tokens, file, backUp } = await newBackup()
    await backUp()
    const key_id = await keyId(owner, 'secret')
    await owner.client().revokeServiceKey({ path: { key_id } })
    await cairn.stop()

    const restored = await command(cairn, 'restore', file, '--json')
    expect([restored.code, restored.stderr]).toEqual([0, ''])
    const told = JSON.parse(restored.stdout)
    const ended = { sessions: 2, setup_links: 1, invitations: 1, password_links: 1, view_links: 1 }
    expect(told).toMatchObject({ events: 1, ended })
    expect(told.keys).toMatchObject([{ kind: 'publishable', since: null }])

    const again = await startCairnForTest({ databaseUrl: cairn.databaseUrl })
    expect([await sessionStatus(again, owner), await sessionStatus(again, admin)]).toEqual([401, 401])
    expect(await linkStatus(again, '/invitations/look-up', tokens.invitation)).toBe(404)
    expect(await linkStatus(again, '/password-links/look-up', tokens.password)).toBe(404)
    expect(await linkStatus(again, '/shared-views/read', tokens.view)).toBe(404)
    expect(await keyStatus(again, workspace.secret_key)).toBe(401)
    const client = browser(again, await signIn(again, owner)).client()
    const log = (await client.listAuditLog({ query: { limit: 10 } })).data?.data.map(({ action, actor }) => [
      action,
      actor.kind,
    ])
    expect(log).toEqual(
      expect.arrayContaining([
        ['store_restored', 'command_line'],
        ['service_key_revoked', 'command_line'],
      ]),
    )
  })

  it('lists the keys and members that come back, with what has changed since', async () => {
    const { cairn, owner, admin, workspace, file, backUp } = await newBackup()
    const viewer = await newMember(cairn, workspace, 'viewer')
    await backUp()
    await owner.client().removeMember({ path: { person_id: admin.person_id } })
    await owner.client().updateMember({ path: { person_id: viewer.person_id }, body: { role: 'owner' } })
    const new_password = 'a-moth-in-relay-70'
    await owner.client().changePassword({ body: { current_password: owner.password, new_password } })
    const rotated = await owner
      .client()
      .rotateServiceKey({ path: { key_id: await keyId(owner, 'publishable') }, body: { grace_seconds: 0 } })
    expect(rotated.response.status).toBe(201)
    await cairn.stop()

    const { stdout } = await command(cairn, 'restore', file)
    expect(stdout).toContain('Ended: 2 sessions, 1 setup link, 1 invitation, 1 password link, 1 view link\n')
    const since = (text: string) =>
      stdout
        .split('\n')
        .find((line) => line.includes(text))
        ?.split(/ {2,}/)
        .at(-1)
    expect(since(admin.email)).toBe('was removed')
    expect(since(viewer.email)).toBe('was owner')
    expect(since(owner.email)).toBe('had a different password')
    // The rotated key has expired, and its successor was created after the backup.
    expect(stdout).toMatch(/KEY_ID[^\n]*\n\S+ +secret [^\n]*\n\n/)
  })

  it('compares each workspace with itself, and lists keys that the replaced store does not have', async () => {
    const { cairn, owner, file, backUp } = await newBackup()
    const elsewhere = await signUp(cairn, await cairn.workspace(), 'owner')
    await backUp()
    await cairn.stop()
    const since = async (store: Pick<Cairn, 'databaseUrl'>) => {
      const { keys, members } = JSON.parse((await command(store, 'restore', file, '--json')).stdout)
      const ofKeys = new Set(keys.map((key: { since: string | null }) => key.since))
      const of = ({ email }: SignedUp) => members.find((member: SignedUp) => member.email === email)?.since
      return { ofKeys: [...ofKeys], owner: of(owner), elsewhere: of(elsewhere) }
    }
    expect(await since(cairn)).toEqual({ ofKeys: [null], owner: null, elsewhere: null })
    const other = { databaseUrl: `sqlite:${temporaryFolder()}/cairn.db` }
    await createWorkspace(other.databaseUrl, { workspace: 'A', journey: 'Onboarding' })
    expect(await since(other)).toEqual({
      ofKeys: ['not in the replaced store'],
      owner: 'was removed',
      elsewhere: 'was removed',
    })
  })

  it('says which webhooks cannot sign, until the key of their secrets is beside the store', async () => {
    const { cairn, workspace, file, backUp } = await newBackup({ encryptionKey: undefined })
    const body = { url: 'http://127.0.0.1:4000/hook', types: ['event.created' as const] }
    const { path } = await newWebhook(workspace.client, body)
    await backUp()
    await cairn.stop()
    const lost = { databaseUrl: `sqlite:${temporaryFolder()}/cairn.db` }
    const unsigned = async (store: typeof lost) =>
      JSON.parse((await command(store, 'restore', file, '--json')).stdout).unsigned_webhooks
    expect(await unsigned(cairn)).toEqual([])
    expect(await unsigned(lost)).toEqual([path.webhook_id])
    const { stdout } = await command(lost, 'restore', file)
    expect(stdout).toContain('Without the key of their secrets, 1 webhook will send nothing.')
    copyFileSync(`${pathOf(cairn)}-encryption-key`, `${pathOf(lost)}-encryption-key`)
    expect(await unsigned(lost)).toEqual([])
  })

  it.each(['beside the store', 'of its own'])(
    'brings no customer back whose erasure is only in the replaced store, with a journal %s',
    async (where) => {
      const erasuresFile = where === 'of its own' ? join(temporaryFolder(), 'erased') : undefined
      const { cairn, workspace, event, file, backUp } = await newBackup({ erasuresFile })
      await backUp()
      const { customer_id } = event
      const erased = await workspace.client.eraseCustomer({ path: { customer_id } })
      expect(erased.response.status).toBe(200)
      await cairn.stop()
      // As if the server had been killed after the commit.
      const journal = erasuresFile ?? `${pathOf(cairn)}-erasures`
      rmSync(journal)

      const environment = {
        DATABASE_URL: cairn.databaseUrl,
        ...(erasuresFile && { CAIRN_ERASURES_FILE: erasuresFile }),
      }
      expect(await runCairn(['restore', file], { environment })).toMatchObject({ code: 0, stderr: '' })
      expect(readFileSync(journal, 'utf8').split('\n').filter(Boolean)).toHaveLength(1)
      const again = await startCairnForTest({ databaseUrl: cairn.databaseUrl, erasuresFile })
      const refused = await again.client(workspace.secret_key).createEvent({ body: event })
      expect(refused.error?.code).toBe('customer_erased')
    },
  )

  it('hides no new customer from a program that follows the list of customers', async () => {
    const { cairn, workspace, file, backUp } = await newBackup()
    await backUp()
    await initialize(workspace, 'user-2')
    const last = await initialize(workspace, 'user-3')
    const { data: listed } = await workspace.client.listCustomers({ query: { order: 'oldest' } })
    const { end } = await exported<Schemas['Customer']>(workspace.client.exportCustomers())
    await workspace.client.eraseCustomer({ path: { customer_id: last } })
    await cairn.stop()
    expect(await command(cairn, 'restore', file)).toMatchObject({ code: 0, stderr: '' })

    const client = (await startCairnForTest({ databaseUrl: cairn.databaseUrl })).client(workspace.secret_key)
    const made = await initialize({ ...workspace, client }, 'user-4')
    const followed = await client.listCustomers({
      query: { order: 'oldest', cursor: listed?.next_cursor ?? '' },
    })
    expect(followed.data?.data.map(({ customer_id }) => customer_id)).toEqual([made])
    const query = { cursor: end.next_cursor ?? '' }
    const { items } = await exported<Schemas['Customer']>(client.exportCustomers({ query }))
    expect(items.map(({ customer_id }) => customer_id)).toEqual([made])
  })

  it('changes nothing if the erasures of the replaced store cannot be recorded', async () => {
    const { cairn, workspace, event, file, backUp } = await newBackup()
    await backUp()
    await workspace.client.eraseCustomer({ path: { customer_id: event.customer_id } })
    await cairn.stop()
    const CAIRN_ERASURES_FILE = join(file, 'erased')
    const environment = { DATABASE_URL: cairn.databaseUrl, CAIRN_ERASURES_FILE }
    expect(await runCairn(['restore', file], { environment })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing was changed'),
    })
    expect(readdirSync(dirname(pathOf(cairn))).filter((name) => /partial|replaced/.test(name))).toEqual([])
  })

  it('keeps what it replaces, including the log, readable by the owner only', async () => {
    const { cairn, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    const path = pathOf(cairn)
    writeFileSync(`${path}-wal`, 'left over')
    chmodSync(file, 0o644)
    const before = readFileSync(file)
    const { kept_in } = JSON.parse((await command(cairn, 'restore', file, '--json')).stdout)
    expect(readdirSync(kept_in)).toEqual(expect.arrayContaining(['cairn.db', 'cairn.db-wal']))
    expect(readdirSync(dirname(path)).filter((name) => !name.includes('replaced'))).toEqual([
      'cairn.db',
      'cairn.db.lock',
    ])
    expect([statSync(path).mode & 0o777, statSync(kept_in).mode & 0o777]).toEqual([0o600, 0o700])
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('leaves the old store complete, or the restored one, wherever it is killed', async () => {
    const { cairn, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    const killed = pathOf(cairn)
    const served = new Database(killed)
    // As a killed server leaves it: what is newest is only in the log.
    served.pragma('wal_autocheckpoint = 0')
    served.exec("UPDATE people SET name = 'in the file'")
    served.pragma('wal_checkpoint(TRUNCATE)')
    served.exec("UPDATE people SET name = 'in the log'")
    const copies = ['', '-wal'].map((suffix) => ({ suffix, content: readFileSync(killed + suffix) }))
    served.close()
    const before = namesIn(file)

    const left: string[] = []
    let code: number | null = null
    for (let step = 1; code !== 0; step += 1) {
      const path = join(temporaryFolder(), 'cairn.db')
      for (const { suffix, content } of copies) writeFileSync(path + suffix, content)
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(killAtStep(step))}`
      const ended = await spawnCairn(['restore', file], {
        environment: { DATABASE_URL: `sqlite:${path}`, NODE_OPTIONS },
      }).ended
      code = ended.code
      if (code !== 0) expect(ended).toMatchObject({ signal: 'SIGKILL' })
      const names = namesIn(path)
      expect([['in the log', 'in the log'], before]).toContainEqual(names)
      left.push(names.join())
      const again = await spawnCairn(['restore', file], { environment: { DATABASE_URL: `sqlite:${path}` } })
        .ended
      expect(again).toMatchObject({ code: 0, stderr: '' })
      expect(namesIn(path)).toEqual(before)
      expect(partialsBeside(path)).toEqual([])
    }
    // It was killed before each change of a file, and what it left is the old store until all at once it is the new one.
    expect(left.length).toBeGreaterThan(4)
    expect(left.at(-1)).toBe(before.join())
    expect(left.lastIndexOf('in the log,in the log')).toBe(left.indexOf(before.join()) - 1)
  })

  it('leaves no copy behind once a server has started, wherever it was killed', async () => {
    const { cairn, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    const path = pathOf(cairn)
    for (let step = 1; partialsBeside(path).length === 0; step += 1) {
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(killAtStep(step))}`
      const environment = { DATABASE_URL: cairn.databaseUrl, NODE_OPTIONS }
      expect(await spawnCairn(['restore', file], { environment }).ended).toMatchObject({ signal: 'SIGKILL' })
    }
    await startCairnForTest({ databaseUrl: cairn.databaseUrl })
    expect(partialsBeside(path)).toEqual([])
  })

  it('creates no file where it fails and there was no store', async () => {
    const folder = temporaryFolder()
    const file = join(temporaryFolder(), 'backup.db')
    writeFileSync(file, 'not a backup')
    expect(
      await command({ databaseUrl: `sqlite:${join(folder, 'cairn.db')}` }, 'restore', file),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing was changed'),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses a server until it has failed and removed its lock', async () => {
    const { databaseUrl, fails } = await failingRestore('before')
    await expect(startChildServer({ databaseUrl })).rejects.toThrow('Another Cairn server is running')
    await fails()
    // An empty store would look like one that has lost its data.
    expect(existsSync(pathOf({ databaseUrl }))).toBe(false)
  })

  it('leaves its store and lock to a server that starts once it has removed its own', async () => {
    const { databaseUrl, fails } = await failingRestore('after')
    const server = await startChildServer({ databaseUrl })
    await fails()
    expect(await serve({ databaseUrl }).ended).toMatchObject({ code: 3 })
    const { secret_key } = await createWorkspace(databaseUrl, { workspace: 'A', journey: 'Onboarding' })
    expect((await server.client(secret_key).listJourneys()).response.status).toBe(200)
  })

  it('restores where there is no store, and says that revocations are unknown', async () => {
    const { cairn, workspace, event, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    const lost = { databaseUrl: `sqlite:${temporaryFolder()}/cairn.db` }
    const { code, stdout } = await command(lost, 'restore', file)
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('No store was replaced, so it is unknown what was revoked'),
    ])
    const again = await startCairnForTest(lost)
    const resent = await again
      .client(workspace.secret_key)
      .createEvent({ body: { ...event, message_id: 'first' } })
    expect(resent.data?.duplicate).toBe(true)
  })

  it('changes nothing while another program reads the store, whose log it then cannot fold in', async () => {
    const { cairn, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    const path = pathOf(cairn)
    const other = new Database(path)
    other.exec("UPDATE people SET name = 'in the log'")
    other.exec('BEGIN; SELECT count(*) FROM people')
    other.prepare('SELECT count(*) FROM people').get()
    const before = readdirSync(dirname(path)).toSorted()
    expect(await command(cairn, 'restore', file)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nothing was changed: .*another program is reading the store/),
    })
    expect(readdirSync(dirname(path)).toSorted()).toEqual(before)
    other.close()
    expect(new Set(namesIn(path))).toEqual(new Set(['in the log']))
  })

  it('keeps a log whose store is lost away from what is restored', async () => {
    const { cairn, workspace, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    const path = pathOf(cairn)
    const lost = new Database(path)
    lost.exec("UPDATE people SET name = 'in the log'")
    const log = readFileSync(`${path}-wal`)
    lost.close()
    rmSync(path)
    writeFileSync(`${path}-wal`, log)
    const { code, stdout } = await command(cairn, 'restore', file, '--json')
    expect(code).toBe(0)
    expect(readFileSync(join(JSON.parse(stdout).kept_in, 'cairn.db-wal')).equals(log)).toBe(true)
    expect(namesIn(path)).toEqual(namesIn(file))
    const again = await startCairnForTest({ databaseUrl: cairn.databaseUrl })
    expect(await keyStatus(again, workspace.secret_key)).toBe(200)
  })

  it('replaces a damaged store', async () => {
    const { cairn, workspace, file, backUp } = await newBackup()
    await backUp()
    await cairn.stop()
    writeFileSync(pathOf(cairn), 'no store at all')
    expect(await command(cairn, 'restore', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('could not be read'),
    })
    const again = await startCairnForTest({ databaseUrl: cairn.databaseUrl })
    expect(await keyStatus(again, workspace.secret_key)).toBe(200)
  })

  it('refuses while a server is running, or without a valid backup, and leaves the store unchanged', async () => {
    const { cairn, workspace, file, backUp } = await newBackup()
    await backUp()
    const environment = { DATABASE_URL: cairn.databaseUrl }
    const running = await spawnCairn(['restore', file], { environment }).ended
    expect(running).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('a server is running'),
    })
    expect(await keyStatus(cairn, workspace.secret_key)).toBe(200)
    await cairn.stop()
    const path = pathOf(cairn)
    const store = readFileSync(path)
    const bad = join(dirname(file), 'bad.db')
    writeFileSync(bad, 'not a store')
    for (const [name, code] of [
      [bad, 1],
      [`${file}-none`, 3],
      [path, 3],
    ] as const) {
      expect([name, await command(cairn, 'restore', name)]).toMatchObject([name, { code, stdout: '' }])
    }
    expect(readFileSync(path).equals(store)).toBe(true)
    expect(readdirSync(dirname(path)).filter((name) => /partial|replaced/.test(name))).toEqual([])
    expect(existsSync(`${path}-wal`)).toBe(false)
  })
})

describe('a store that was restored', () => {
  it('is copied only once a server has repeated the erasures that the backup lacks', async () => {
    const cairn = await startCairn()
    const workspace = await cairn.workspace()
    const customer_id = await initialize(workspace, 'user-1')
    const file = join(temporaryFolder(), 'backup.db')
    expect(await command(cairn, 'backup', file)).toMatchObject({ code: 0 })
    await workspace.client.eraseCustomer({ path: { customer_id } })
    await cairn.stop()
    expect(await command(cairn, 'restore', file)).toMatchObject({ code: 0 })
    const to = `sqlite:${join(temporaryFolder(), 'copy.db')}`
    const copy = () => spawnCairn(['copy', '--from', cairn.databaseUrl, '--to', to]).ended
    expect(await copy()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('customers that were erased'),
    })

    const { databaseUrl } = cairn
    const again = await startCairn({ databaseUrl })
    const { client } = again
    const erasures = async () => (await client(workspace.secret_key).listErasures()).data?.data
    await expect.poll(erasures).toMatchObject([{ customer_id, completed_at: expect.any(String) }])
    await again.stop()
    expect(await copy()).toMatchObject({ code: 0 })
  })
})
