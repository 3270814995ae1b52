import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { processEnvironment } from './server/config.ts'
import { withPatience } from './test/fixtures/patience.ts'
import { installedPrograms } from './test/fixtures/postgres/programs.ts'
import { type TestFile, testFiles } from './test/setup/test-files.ts'

/** What the others have seen is complete when they have ended. */
const last = ['test/contract/coverage.test.ts', 'test/postgres/recorded-statements.test.ts']

// Real servers, real files and a real browser, on a machine that may be busy: a test that waits for work has no bound of
// its own. These end a run that hangs, and no other.
const timeouts = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: withPatience } }

// Of what a process has compiled, the next one starts in half the time.
const env = { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) }

/** A server's threads as they are built: each as it is written would take a third of a second of processor time. */
const resolve = {
  alias: [
    {
      find: /.*\/thread-module\.ts$/,
      replacement: fileURLToPath(new URL('test/setup/built-threads.ts', import.meta.url)),
    },
  ],
}

const files = testFiles('test').filter(({ path }) => !last.includes(path))

const setupFiles = [
  'test/contract/record-replies.ts',
  'test/setup/seeded-cases.ts',
  'test/times/record-processor-time.ts',
]

const sqlite = projectsOf(
  files.filter(({ engines }) => engines.includes('sqlite') || engines.length === 0),
  { env, name: 'cairn', setupFiles },
)
const postgres = projectsOf(
  files.filter(({ engines }) => engines.includes('postgres')),
  {
    env: { ...env, CAIRN_TEST_ENGINE: 'postgres' },
    name: 'postgres',
    globalSetup: 'test/postgres/run.ts',
    setupFiles: [...setupFiles, 'test/postgres/drop-databases.ts'],
  },
)

/**
 * Two projects per engine. Most files share one process per worker: to load what they use, and to compile the contract,
 * takes longer than what most of them try. A file that measures the memory or the processor time of its process has one to
 * itself.
 */
function projectsOf(
  files: TestFile[],
  settings: { name: string } & TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration[] {
  const test = { ...timeouts, ...settings, sequence: { groupOrder: 1 } }
  const pathsOf = (files: TestFile[]) => files.map(({ path }) => path)
  return [
    { resolve, test: { ...test, include: pathsOf(files.filter(({ alone }) => !alone)), isolate: false } },
    {
      resolve,
      test: { ...test, name: `${settings.name}-alone`, include: pathsOf(files.filter(({ alone }) => alone)) },
    },
  ]
}

/** Where npm has PostgreSQL for this platform. It must not look as if it had been tried where it has not. */
function hasPostgres(): boolean {
  if (installedPrograms()) return true
  const missing = `NOT TRIED ON POSTGRESQL: npm has none for ${process.platform}-${process.arch}, or was told to leave out
optional packages.`
  if (processEnvironment().CI) throw new Error(missing)
  process.stderr.write(`\n${missing}\n\n`)
  return false
}

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    // Each waits a quarter of its time: for a disk, a browser, a process of its own.
    maxWorkers: availableParallelism() + 1,
    globalSetup: [
      'test/setup/run-folder.ts',
      'test/contract/records-folder.ts',
      'test/setup/seed.ts',
      'test/setup/build.js',
    ],
    projects: [
      ...sqlite,
      ...(hasPostgres() ? postgres : []),
      // Order 0 would come last with one worker.
      { test: { ...timeouts, name: 'coverage', include: last, sequence: { groupOrder: 2 } } },
    ],
  },
})
