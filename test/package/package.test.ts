import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { processEnvironment } from '../../server/config.ts'
import { bundleForBrowser } from '../browser/bundle.ts'
import { startCairnForTest, temporaryFolder } from '../cairn.ts'
import { contractDocument, operations } from '../contract/document.ts'

const run = promisify(execFile)

/** A project of somebody else, in which the package is installed as it would be published. */
const project = temporaryFolder()

beforeAll(async () => {
  await installPackage()
}, 120_000)

async function installPackage() {
  // Packed from a copy, because building replaces files that other tests may be reading.
  const copy = temporaryFolder()
  for (const name of ['client', 'generated', 'package.json', 'tsconfig.json']) {
    cpSync(name, join(copy, name), { recursive: true, filter: (file) => !file.endsWith('/dist') })
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  await run('npm', ['pack', '--pack-destination', project], { cwd: join(copy, 'client') })
  const [tarball = ''] = readdirSync(project)
  writeIn(project, 'package.json', JSON.stringify({ private: true, type: 'module' }))
  const options = ['--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...options, join(project, tarball)], { cwd: project })
}

function writeIn(folder: string, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('the installed package', () => {
  it('brings openapi-fetch and nothing that runs at installation or is native', () => {
    const manifest = JSON.parse(readFileSync(join(project, 'node_modules/cairn-client/package.json'), 'utf8'))
    expect(Object.keys(manifest.dependencies)).toEqual(['openapi-fetch'])

    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
    expect(Object.keys(packages).filter(Boolean)).toEqual([
      'node_modules/cairn-client',
      'node_modules/openapi-fetch',
      // Types alone.
      'node_modules/openapi-typescript-helpers',
    ])
    expect(Object.values<object>(packages).filter((found) => 'hasInstallScript' in found)).toEqual([])
    const files = readdirSync(join(project, 'node_modules'), { recursive: true }).map(String)
    expect(files.filter((file) => file.endsWith('.node') || file.endsWith('binding.gyp'))).toEqual([])
  })

  it('is at most 5 kB minified and compressed, openapi-fetch included', async () => {
    const everything = await bundleForBrowser(
      writeIn(project, 'everything.js', "export * from 'cairn-client'"),
    )
    expect(everything).toContain('handOver')
    expect(gzipSync(everything).length).toBeLessThanOrEqual(5000)
  })

  it('leaves the tracker out where it is not used', async () => {
    const code = "export { createClient } from 'cairn-client'"
    expect(await bundleForBrowser(writeIn(project, 'client-alone.js', code))).not.toContain('handOver')
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
// @ts-expect-error: no such code
error?.code === 'no_such_code'
`

describe('its types', () => {
  it.each([
    ['nodenext', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
    ['bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ])('pass a strict check, libraries included, with moduleResolution %s', (_name, resolution) => {
    const program = ts.createProgram([writeIn(project, 'example.ts', example)], {
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

  it('show the description of the contract to who points at an operation', () => {
    const text = "import type { Client } from 'cairn-client'\ndeclare const client: Client\n"
    const calls = operations.map(({ operationId }) => `client.${operationId}`)
    const file = writeIn(project, 'hover.ts', text + calls.join('\n'))
    const service = ts.createLanguageService(hostOf(file))

    for (const [index, { operationId, method, path }] of operations.entries()) {
      const position = text.length + calls.slice(0, index + 1).join('\n').length - 1
      const info = service.getQuickInfoAtPosition(file, position)
      const shown = ts.displayPartsToString(info?.documentation)
      const { summary, description } = contract.paths[path]?.[method.toLowerCase()] ?? {}
      expect(words(shown), operationId).toEqual(words(`${summary} ${description}`))
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
  it('on a Node that is not brought by a package too', () => {
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
