// engines: sqlite (a package sees only the API, which is tested on both engines)

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { processEnvironment } from '../../server/config.ts'
import { bundleByVite, bundleForBrowser } from '../fixtures/bundle.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { contractDocument, operations } from '../fixtures/contract/document.ts'
import { installPackage, writeIn } from '../fixtures/installation.ts'

const run = promisify(execFile)

/** A foreign project in which the package is installed as it would be published. */
const project = temporaryFolder()

beforeAll(async () => {
  await installPackage(project)
})

describe('the installed package', () => {
  it('depends on openapi-fetch only, and on nothing that is native or runs at installation', () => {
    const manifest = JSON.parse(readFileSync(join(project, 'node_modules/cairn-client/package.json'), 'utf8'))
    expect(Object.keys(manifest.dependencies)).toEqual(['openapi-fetch'])

    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
    expect(Object.keys(packages).filter(Boolean)).toEqual([
      'node_modules/cairn-client',
      'node_modules/openapi-fetch',
      // Types only.
      'node_modules/openapi-typescript-helpers',
    ])
    expect(Object.values<object>(packages).filter((found) => 'hasInstallScript' in found)).toEqual([])
    const files = readdirSync(join(project, 'node_modules'), { recursive: true }).map(String)
    expect(files.filter((file) => file.endsWith('.node') || file.endsWith('binding.gyp'))).toEqual([])
  })

  it.each([
    ['rolldown', bundleForBrowser],
    ['Vite', bundleByVite],
  ])('is at most 4.5 kB by %s, minified and compressed, openapi-fetch included', async (_name, bundle) => {
    const everything = await bundle(writeIn(project, 'everything.js', "export * from 'cairn-client'"))
    const alone = await bundle(writeIn(project, 'alone.js', "export { createClient } from 'cairn-client'"))
    expect(everything).toContain('handOver')
    expect(gzipSync(everything).length).toBeLessThanOrEqual(4500)
    expect(gzipSync(alone).length).toBeLessThanOrEqual(3500)
  })

  it('omits the tracker if it is not used', async () => {
    const code = "export { createClient } from 'cairn-client'"
    expect(await bundleForBrowser(writeIn(project, 'client-alone.js', code))).not.toContain('handOver')
  })

  it('has the operations for people in an entry point of its own', async () => {
    const bundles = await Promise.all(
      ['cairn-client', 'cairn-client/person'].map((entry) =>
        bundleForBrowser(writeIn(project, `${entry.replace('/', '-')}.js`, `export * from '${entry}'`)),
      ),
    )
    expect(bundles.map((bundle) => bundle.includes('/audit-log'))).toEqual([false, true])
    expect(bundles.map((bundle) => bundle.includes('handOver'))).toEqual([true, false])
  })

  it('has webhooks in an entry point of its own, of at most 1.2 kB and without openapi-fetch', async () => {
    const code = "export * from 'cairn-client/webhooks'"
    const bundle = await bundleForBrowser(writeIn(project, 'webhooks.js', code))
    expect(gzipSync(bundle).length).toBeLessThanOrEqual(1_200)
    expect(
      readFileSync(join(project, 'node_modules/cairn-client/dist/client/webhooks.js'), 'utf8'),
    ).not.toMatch(/^import/m)
  })
})

const example = `
import { type Client, createClient, createTracker, type OperationResult, type TrackedEvent } from 'cairn-client'

const options = { baseUrl: 'http://127.0.0.1:3000/v1', serviceKey: 'pk_…' }
const customer = { client_customer_id: 'u', journey_id: 'j', customer_type: 'contact', customer_name: 'A' } as const
const client: Client = createClient(options)
const { data, error } = await client.initializeCustomer({ body: customer })
if (error) throw new Error(error.detail)
const customer_id: string = data.customer_id
await client.createEvent({ body: { journey_id: 'j', customer_id, event_id: 'signed_up' } })
const tracker = createTracker({ ...options, customer })
const outcome: OperationResult<'createEvent'> = await tracker.track('signed_up', { plan: 'team' })
export const left: TrackedEvent[] = tracker.handOver()
export const id: string | undefined = outcome.data?.id

// @ts-expect-error: no such operation
client.deleteEverything
// @ts-expect-error: customer_id is missing
client.createEvent({ body: { journey_id: 'j', event_id: 'signed_up' } })
// @ts-expect-error: an event has a name
tracker.track()
// @ts-expect-error: for people, who sign in
client.listMembers
// @ts-expect-error: no such code
error?.code === 'no_such_code'
`

const personExample = `
import { createPersonClient, type OperationRequest, type PersonClient, type Schemas } from 'cairn-client/person'

const person: PersonClient = createPersonClient({ baseUrl: '/v1', workspaceId: 'wsp_1' })
const credentials: OperationRequest<'signIn'>['body'] = { email: 'grace@example.com', password: 'nine-lives' }
const { data, error } = await person.signIn({ body: credentials })
export const waits: boolean = error?.code === 'too_many_attempts'
export const session: Schemas['Session'] | undefined = data
export const journeys: Schemas['JourneyPage'] | undefined = (await person.listJourneys()).data
export const removed: undefined = (await person.removeMember({ path: { person_id: 'per_1' } })).data

// @ts-expect-error: a session cannot ingest events
person.createEvent
`

const webhooksExample = `
import { type VerifiedWebhook, verifyWebhook } from 'cairn-client/webhooks'

type Message = { type: 'event.created'; data: { id: string } }
declare const request: Request
declare const headers: Record<string, string | string[] | undefined>
const verified: VerifiedWebhook<Message> = await verifyWebhook(await request.text(), request.headers, 'whsec_…')
export const id: string | undefined = verified.ok ? verified.message.data.id : undefined
const again = await verifyWebhook<Message>(new Uint8Array(), headers, ['whsec_…'], { tolerance_s: 60, now: 0 })
export const isOld: boolean = !again.ok && again.reason === 'too_old'

// @ts-expect-error: not verified yet
verified.message
// @ts-expect-error: no such reason
!again.ok && again.reason === 'no_such_reason'
`

describe('its types', () => {
  it.each([
    ['nodenext', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
    ['bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ])('pass a strict check, libraries included, with moduleResolution %s', (_name, resolution) => {
    const files = [
      writeIn(project, 'example.ts', example),
      writeIn(project, 'person-example.ts', personExample),
      writeIn(project, 'webhooks-example.ts', webhooksExample),
    ]
    const program = ts.createProgram(files, {
      ...resolution,
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      types: [],
    })

    const diagnostics = ts.getPreEmitDiagnostics(program)

    expect(ts.formatDiagnostics(diagnostics, formatHost)).toBe('')
    const declarations = program.getSourceFiles().map(({ fileName }) => fileName)
    expect(declarations).toContainEqual(
      expect.stringMatching(/cairn-client\/dist\/generated\/contract\.d\.ts$/),
    )
  })

  it.each([
    ['node20', ts.ModuleKind.Node20],
    ['nodenext', ts.ModuleKind.NodeNext],
  ])('pass in a CommonJS module with module %s, and it runs', async (_name, module) => {
    const code = "import { createClient } from 'cairn-client'\nconsole.log(typeof createClient)\n"
    const file = writeIn(project, 'common.cts', code)
    const program = ts.createProgram([file], { module, strict: true, types: [], outDir: project })

    const diagnostics = ts.getPreEmitDiagnostics(program)
    program.emit()

    expect(ts.formatDiagnostics(diagnostics, formatHost)).toBe('')
    expect((await run(own.file, [join(project, 'common.cjs')])).stdout).toBe('function\n')
  })

  it('show the contract’s description on hover', () => {
    const text = `
      import type { Client } from 'cairn-client'
      import type { PersonClient } from 'cairn-client/person'
      declare const key: Client
      declare const person: PersonClient
    `
    const calls = operations.flatMap((operation) => {
      const isForPeople = operation.accepts.length === 0 || operation.accepts.includes('Session')
      const clients = [
        ...(operation.accepts.includes('SecretKey') ? ['key'] : []),
        ...(isForPeople ? ['person'] : []),
      ]
      return clients.map((client) => ({ ...operation, call: `${client}.${operation.operationId}` }))
    })
    const file = writeIn(project, 'hover.ts', text + calls.map(({ call }) => call).join('\n'))
    const service = ts.createLanguageService(hostOf(file))

    let position = text.length - 1
    for (const { call, method, path } of calls) {
      position += call.length
      const info = service.getQuickInfoAtPosition(file, position)
      const shown = ts.displayPartsToString(info?.documentation)
      const { summary, description } = contract.paths[path]?.[method.toLowerCase()] ?? {}
      expect(words(shown), call).toEqual(words(`${summary} ${description}`))
      position += '\n'.length
    }
  })
})

const contract = contractDocument() as {
  paths: Record<string, Record<string, { summary: string; description: string }>>
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

const formatHost: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => project,
  getNewLine: () => '\n',
}

/** An editor that has opened one file. */
function hostOf(file: string): ts.LanguageServiceHost {
  const { fileExists, readFile } = ts.sys
  return {
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, strict: true, types: [] }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => ts.ScriptSnapshot.fromString(readFile(name) ?? ''),
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists,
    readFile,
  }
}

const program = `
import { createClient, createTracker } from 'cairn-client'

const [baseUrl, serviceKey, journey_id] = process.argv.slice(2)
const customer = { client_customer_id: process.version, journey_id, customer_type: 'contact', customer_name: 'A' }
const { data } = await createClient({ baseUrl, serviceKey }).initializeCustomer({ body: customer })
const tracker = createTracker({ baseUrl, serviceKey, customer })
const outcomes = [tracker.track('signed_up'), tracker.track('plan_chosen', { plan: 'team' })]
await tracker.close()
const stored = (await Promise.all(outcomes)).map(({ data }) => data.id)
console.log(JSON.stringify({ version: process.version, customer_id: data.customer_id, stored }))
`

/** A Node by the path of its program. */
type Node = { file: string; version: string }

/** The Node that runs this test, and those of the machine: on PATH, but not brought by a package. */
const own: Node = { file: realpathSync(process.execPath), version: process.version }
const machines: Node[] = (processEnvironment().PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter((file) => !file.includes('node_modules') && existsSync(file))
  .map((file) => realpathSync(file))
  .filter((file, index, files) => file !== own.file && files.indexOf(file) === index)
  .map((file) => ({ file, version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim() }))
  .filter(({ version }) => Number(version.match(/^v(\d+)/)?.[1]) >= 20)

describe('the package runs', () => {
  it('on a Node that was not installed by a package', () => {
    expect(machines, 'Node 20 or later on PATH, outside of node_modules').not.toEqual([])
  })

  it.each([own, ...machines])('on Node $version ($file)', async ({ file, version }) => {
    const cairn = await startCairnForTest()
    const { client, journey_id, publishable_key } = await cairn.workspace()
    const script = writeIn(project, 'program.js', program)

    const { stdout, stderr } = await run(file, [script, `${cairn.url}/v1`, publishable_key, journey_id])

    expect(stderr).toBe('')
    const ran = JSON.parse(stdout)
    expect(ran.version).toBe(version)
    const { data } = await client.listEvents()
    expect(data?.data).toMatchObject([
      { id: ran.stored[1], customer_id: ran.customer_id, event_id: 'plan_chosen' },
      { id: ran.stored[0], customer_id: ran.customer_id, event_id: 'signed_up' },
    ])
  })
})
