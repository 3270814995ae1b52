// engines: sqlite, postgres

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { cairnFile, runCairn, spawnCairn, startCommand } from '../fixtures/command.ts'

const JSON_LINE =
  /^\{"workspace_id":"wsp_.{26}","journey_id":"jrn_.{26}","secret_key":"sk_.{49}","publishable_key":"pk_.{49}"\}\n$/

function newStore() {
  const path = join(temporaryFolder(), 'cairn.db')
  const environment = { DATABASE_URL: `sqlite:${path}` }
  return {
    environment,
    databaseUrl: environment.DATABASE_URL,
    init: (workspace: string, journey: string, ...more: string[]) =>
      runCairn(['init', '--workspace', workspace, '--journey', journey, ...more], { environment }),
    /** The number of rows in the tables. */
    counts() {
      const file = new Database(path, { readonly: true })
      const counts = ['workspaces', 'journeys', 'service_keys'].map((table) =>
        file.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
      )
      file.close()
      return counts
    },
  }
}

describe('cairn init', () => {
  it('--json prints one object, with which an event can be sent immediately', async () => {
    const { databaseUrl, init } = newStore()
    const server = await startChildServer({ databaseUrl })
    const made = await init('Example Ltd', 'Onboarding', '--json')
    expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(JSON_LINE) })
    const { journey_id, secret_key, publishable_key } = JSON.parse(made.stdout)
    const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    const { data: customer } = await server
      .client(publishable_key)
      .initializeCustomer({ body: { ...names, journey_id } })
    const event = { journey_id, customer_id: customer?.customer_id ?? '', event_id: 'signed_up' }
    const { response } = await server.client(publishable_key).createEvent({ body: event })
    expect(response.status).toBe(201)
    const { data } = await server.client(secret_key).listJourneys()
    expect(data?.data).toMatchObject([{ journey_id, name: 'Onboarding', status: 'active' }])
  })

  it('prints a line for each thing created, and that the secret key is not shown again', async () => {
    const { init } = newStore()
    const { code, stdout, stderr } = await init('Example Ltd', 'Onboarding')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^workspace_id +wsp_\w{26}$/),
      expect.stringMatching(/^journey_id +jrn_\w{26}$/),
      expect.stringMatching(/^secret_key +sk_\w{49}$/),
      expect.stringMatching(/^publishable_key +pk_\w{49}$/),
      '',
      'Save the secret key now: only its digest is stored, so it cannot be shown again.',
      '',
      'While the server is running, the administration interface is at http://127.0.0.1:3000/admin/',
      "To create a link for the first owner of the workspace, run: npx cairn setup-link --workspace 'Example Ltd'",
      '',
    ])
  })

  it('prints the URL of the interface from the settings, and a command that works', async () => {
    const { environment, databaseUrl } = newStore()
    const names = ['--workspace', "Ada's", '--journey', 'Onboarding']
    const settings = { ...environment, CAIRN_PUBLIC_URL: 'https://cairn.example.com' }
    const { stdout } = await runCairn(['init', ...names], { environment: settings })
    expect(stdout).toContain('the administration interface is at https://cairn.example.com/admin/\n')
    await runCairn(['init', '--workspace', 'Another', '--journey', 'Onboarding'], { environment })
    const [, args = ''] = /: npx cairn (setup-link .+)\n$/.exec(stdout) ?? []
    const shell = ['-c', `exec "$0" "$1" ${args}`, process.execPath, cairnFile]
    const made = await startCommand('bash', shell, { environment: { DATABASE_URL: databaseUrl } }).ended
    expect(made).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('/admin/setup#token='),
    })
  })

  it('creates no folder for a store except the default one', async () => {
    const folder = temporaryFolder()
    const init = (environment: Record<string, string>) =>
      spawnCairn(['init', '--workspace', 'A', '--journey', 'B'], { environment, folder }).ended
    const missing = join(folder, 'missing')
    const stderr = `cairn: the folder ${missing} of the store does not exist. Create it (mkdir -p ${missing}), or correct DATABASE_URL\n`
    const refused = { code: 2, stdout: '', stderr }
    expect(await init({ DATABASE_URL: `sqlite:${missing}/cairn.db` })).toMatchObject(refused)
    expect(await init({ DATABASE_URL: 'sqlite:missing/cairn.db' })).toMatchObject(refused)
    const environment = { DATABASE_URL: 'sqlite:missing/cairn.db' }
    expect(await spawnCairn(['serve'], { environment, folder }).ended).toMatchObject(refused)
    expect(readdirSync(folder)).toEqual([])
    expect(await init({})).toMatchObject({ code: 0 })
    expect(readdirSync(join(folder, 'data'))).toContain('cairn.db')
  })

  it('creates nothing and ends with exit code 3 if the workspace exists', async () => {
    const { init, counts } = newStore()
    expect(await init('Example "Ltd"', 'Onboarding')).toMatchObject({ code: 0 })
    const before = counts()
    expect(before).toEqual([1, 1, 2])
    const stderr = 'cairn: a workspace named "Example \\"Ltd\\"" already exists\n'
    expect(await init('Example "Ltd"', 'Renewal', '--json')).toMatchObject({ code: 3, stdout: '', stderr })
    expect(counts()).toEqual(before)
  })

  it('creates one of two with the same name at once', async () => {
    const { environment, counts } = newStore()
    const init = () => spawnCairn(['init', '--workspace', 'A', '--journey', 'B'], { environment }).ended
    const answers = await Promise.all([init(), init()])
    expect(answers.map(({ code }) => code).toSorted()).toEqual([0, 3])
    expect(counts()).toEqual([1, 1, 2])
  })

  it('accepts names of 255 characters and refuses 256, none and an empty one', async () => {
    const { init, databaseUrl } = newStore()
    const long = '\u{1F600}'.repeat(255)
    const environment = { DATABASE_URL: databaseUrl }
    const [taken, ...refused] = await Promise.all([
      init(long, long, '--json'),
      init(`${long}x`, 'B'),
      init('A', `${long}x`),
      init('A', ''),
      runCairn(['init', '--journey', 'B'], { environment }),
    ])
    expect(taken).toMatchObject({ code: 0, stderr: '' })
    for (const answer of refused) {
      const stderr = expect.stringMatching(/^error: (required )?option '--(workspace|journey) <name>'/)
      expect(answer).toMatchObject({ code: 2, stdout: '', stderr })
    }
  })
})
