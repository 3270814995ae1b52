// engines: sqlite (the command sees only the API, which is tested on both engines)

import { type ExecFileException, execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { processEnvironment } from '../../server/config.ts'
import { startCairnForTest, temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { installPackage, writeIn } from '../fixtures/installation.ts'

/** A foreign project in which the package is installed as it would be published. */
const project = temporaryFolder()

beforeAll(async () => {
  await installPackage(project)
})

type Ran = { code: number; stdout: string; stderr: string }

/** Runs a program of the scratch project, or of this repository by its path. */
function run(file: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((done) => {
    const options = { cwd: project, env: { ...processEnvironment(), ...env } }
    execFile(file, args, options, (error: ExecFileException | null, stdout, stderr) => {
      done({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}

let workspace: Workspace
let baseUrl: string
/** Identifiers of definitions, by event. */
let defined: Record<string, string>

beforeEach(async () => {
  const cairn = await startCairnForTest()
  workspace = await cairn.workspace()
  baseUrl = `${cairn.url}/v1`
  defined = {}
  const steps = ['signed_up', 'plan_chosen'].map((event_id) => ({ event_id, name: event_id }))
  await workspace.client.updateJourney({ path: { journey_id: workspace.journey_id }, body: { steps } })
  await define('plan_chosen', {
    type: 'object',
    required: ['plan'],
    additionalProperties: false,
    properties: {
      plan: { type: 'string', enum: ['free', 'team'], description: 'The new plan. */ Not the old one.' },
      seats: { type: 'integer', minimum: 1 },
      coupon: { type: ['string', 'null'], deprecated: true },
    },
  })
  await define('invoice "paid" 🎉', {
    type: 'object',
    properties: { at: { type: 'string', format: 'date-time' } },
  })
})

type Variables = NonNullable<Parameters<Workspace['client']['defineEvent']>[0]['body']['variables']>

type Fields = NonNullable<Variables['properties']>

async function define(event_id: string, variables: Variables) {
  const body = { event_id, description: `About ${event_id}.`, variables }
  const { data } = await workspace.client.defineEvent({ body })
  defined[event_id] = data?.definition.definition_id ?? ''
}

async function change(event_id: string, variables: Variables) {
  const path = { definition_id: defined[event_id] ?? '' }
  const body = { variables, confirm_breaking: true }
  expect((await workspace.client.updateEventDefinition({ path, body })).error).toBeUndefined()
}

/** Runs the command with the key of the workspace. */
async function types(...args: string[]): Promise<Ran> {
  const env = { CAIRN_SERVICE_KEY: workspace.secret_key }
  return await run(
    join('node_modules', '.bin', 'cairn-client'),
    ['types', '--base-url', baseUrl, ...args],
    env,
  )
}

/** Writes the types of the journey into the project. @returns the name of the file */
async function write(): Promise<string> {
  const { code, stdout, stderr } = await types('--journey', workspace.journey_id)
  expect([code, stderr]).toEqual([0, ''])
  writeIn(project, 'cairn.d.ts', stdout)
  return 'cairn.d.ts'
}

const program = `
import { createClient, createTracker, type Client, type Tracker } from 'cairn-client'
import type { Events } from './cairn.js'

const options = { baseUrl: 'http://127.0.0.1:3000/v1', serviceKey: 'pk_…' }
const customer = { client_customer_id: 'u', journey_id: 'j', customer_type: 'contact', customer_name: 'A' } as const
const tracker: Tracker<Events> = createTracker<Events>({ ...options, customer })
await tracker.track('signed_up')
await tracker.track('signed_up', { what: 'ever' }, { message_id: 'm-1' })
await tracker.track('plan_chosen', { plan: 'team', seats: 12, coupon: null })
await tracker.track('invoice "paid" 🎉')
await tracker.track('invoice "paid" 🎉', { at: '2026-11-20T08:30:00Z' })
for (const { event_id, custom_variables, ...rest } of JSON.parse('[]')) await tracker.track(event_id, custom_variables, rest)
// @ts-expect-error: a misspelt name
tracker.track('plan_choosen', { plan: 'team' })
// @ts-expect-error: a field that is not defined
tracker.track('plan_chosen', { plan: 'team', seat: 12 })
// @ts-expect-error: a value that is not defined
tracker.track('plan_chosen', { plan: 'gold' })
// @ts-expect-error: another type
tracker.track('plan_chosen', { plan: 'team', seats: '12' })
// @ts-expect-error: a missing field
tracker.track('plan_chosen', { seats: 12 })
// @ts-expect-error: without its variables
tracker.track('plan_chosen')

const client: Client<Events> = createClient<Events>(options)
const ids = { journey_id: 'j', customer_id: 'c' }
const { data, error } = await client.createEvent({ body: { ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'free' } } })
export const id: string | undefined = error ? error.detail : data.id
await client.createEvent({ body: { ...ids, event_id: 'signed_up' }, query: { dry_run: true } })
await client.createEvents({ body: { events: [{ ...ids, event_id: 'signed_up' }, { ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'team' } }] } })
export const journeys = (await client.listJourneys()).data?.data
// @ts-expect-error: a misspelt name
client.createEvent({ body: { ...ids, event_id: 'sined_up' } })
// @ts-expect-error: a missing field
client.createEvent({ body: { ...ids, event_id: 'plan_chosen', custom_variables: { seats: 1 } } })
// @ts-expect-error: without its variables
client.createEvent({ body: { ...ids, event_id: 'plan_chosen' } })
// @ts-expect-error: a field that is not defined
client.createEvents({ body: { events: [{ ...ids, event_id: 'plan_chosen', custom_variables: { plan: 'team', seat: 1 } }] } })

const free: Tracker = createTracker({ ...options, customer })
await free.track('anything', { at: 'all' })
`

const config = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'DOM'],
    types: [],
  },
}

describe('cairn-client types', () => {
  it('writes types that a strict project compiles with, and that refuse what is not in the plan', async () => {
    const file = await write()
    writeIn(project, 'program.ts', program)
    writeIn(project, 'tsconfig.json', JSON.stringify({ ...config, files: ['program.ts', file] }))
    const { code, stdout } = await run(resolve('node_modules/.bin/tsc'), [])
    expect(stdout).toBe('')
    expect(code).toBe(0)
  })

  it('lets the editor complete names and fields, with their descriptions', async () => {
    const file = await write()
    const start = `
      import { createTracker } from 'cairn-client'
      import type { Events } from './cairn.js'
      declare const options: Parameters<typeof createTracker>[0]
      createTracker<Events>(options).track('`
    const source = writeIn(project, 'editor.ts', `${start}plan_chosen', { plan: 'team', seats: 1 })`)
    const service = ts.createLanguageService(hostOf([source, join(project, file)]))
    const completed = (position: number) =>
      service.getCompletionsAtPosition(source, position, {})?.entries.map(({ name }) => name)
    expect(completed(start.length)).toEqual(
      expect.arrayContaining(['plan_chosen', 'signed_up', 'invoice "paid" 🎉']),
    )
    const text = readFileSync(source, 'utf8')
    expect(completed(text.indexOf('team'))).toEqual(['free', 'team'])
    const info = service.getQuickInfoAtPosition(source, text.indexOf('plan:'))
    expect(ts.displayPartsToString(info?.documentation)).toContain('The new plan.')
  })

  it('exits with 0, 1 and 2 for no change, an additive one and a breaking one', async () => {
    const file = await write()
    expect(await types('--check', file)).toEqual({ code: 0, stdout: '', stderr: '' })

    const plan: Fields = { plan: { type: 'string', enum: ['free', 'team'] } }
    const others: Fields = {
      seats: { type: 'integer', minimum: 1 },
      coupon: { type: ['string', 'null'] },
    }
    const closed = (properties: Fields, ...required: string[]): Variables => {
      return { type: 'object', required, additionalProperties: false, properties }
    }
    await change('plan_chosen', closed({ plan: { type: 'string' }, ...others }, 'plan'))
    expect(await types('--check', file)).toEqual({
      code: 1,
      stdout: 'additive: "plan_chosen" /plan has another list of values\n',
      stderr: '',
    })

    await define('invited', { type: 'object' })
    await workspace.client.removeEventDefinition({
      path: { definition_id: defined['invoice "paid" 🎉'] ?? '' },
    })
    await change('plan_chosen', closed({ ...plan, ...others }, 'plan', 'seats'))
    const breaking = await types('--check', file)
    expect(breaking.code).toBe(2)
    expect(breaking.stdout.split('\n').sort()).toEqual([
      '',
      'additive: "invited" is a new event',
      'breaking: "invoice \\"paid\\" 🎉" is no longer in the plan',
      'breaking: "plan_chosen" /seats is now required: events without it no longer conform',
    ])
  })

  it('exits with 3 if it cannot write or compare', async () => {
    const file = await write()
    const other = writeIn(project, 'other.d.ts', 'export interface Events {}\n')
    const rows: [string[], RegExp][] = [
      [[], /name the journey/],
      [['--journey', 'jrn_unknown'], /\(journey_not_found\)/],
      [['--check', 'missing.d.ts'], /cannot read missing\.d\.ts: ENOENT/],
      [['--check', other], /it was not made by/],
      [['--check', file, '--key-file', other], /it needs a secret key/],
      [['--check', file, '--wrong'], /Unknown option '--wrong'/],
      [['--check', file, '--base-url', `${baseUrl}/none`], /Unexpected response|\(not_found\)/],
    ]
    for (const [args, expected] of rows) {
      const { code, stdout, stderr } = await types(...args)
      expect({ code, stdout }, args.join(' ')).toEqual({ code: 3, stdout: '' })
      expect(stderr).toMatch(expected)
      expect(stderr).not.toContain(workspace.secret_key)
    }
  })

  it.each([
    ['no command', [], 'the only command is types'],
    ['an unknown command', ['tipes', '--base-url', 'http://127.0.0.1:3000/v1'], 'the only command is types'],
    ['no server', ['types'], 'name the server with --base-url'],
  ])('given %s, says so and how it is used', async (_name, args, message) => {
    const { code, stdout, stderr } = await run(join('node_modules', '.bin', 'cairn-client'), args)
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr.split('.\n\nUsage: ', 1)).toEqual([`cairn-client: ${message}`])
  })

  it('prints the version of its package', async () => {
    const { version } = JSON.parse(readFileSync('client/package.json', 'utf8'))
    const printed = await run(join('node_modules', '.bin', 'cairn-client'), ['--version'])
    expect(printed).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('reads the key from a file', async () => {
    const key = writeIn(project, 'key', `${workspace.secret_key}\n`)
    const args = ['types', '--base-url', baseUrl, '--journey', workspace.journey_id, '--key-file', key]
    const { code, stdout } = await run(join('node_modules', '.bin', 'cairn-client'), args)
    expect([code, stdout]).toEqual([0, expect.stringContaining('export interface Events {')])
  })
})

/** An editor that has opened the files. */
function hostOf(files: string[]): ts.LanguageServiceHost {
  const { fileExists, readFile } = ts.sys
  return {
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, strict: true, types: [] }),
    getScriptFileNames: () => files,
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => ts.ScriptSnapshot.fromString(readFile(name) ?? ''),
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists,
    readFile,
  }
}
