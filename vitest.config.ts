import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { processEnvironment } from './server/config.ts'
import { withPatience } from './test/patience.ts'
import { installedPrograms } from './test/postgres/programs.ts'

const coverage = 'test/contract/coverage.test.ts'

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
      replacement: fileURLToPath(new URL('test/built-threads.ts', import.meta.url)),
    },
  ],
}

/**
 * What measures the memory or the processor time of its own process has it to itself. All others share one for each worker:
 * to load what they use, and to compile the contract, takes longer than what most of them try.
 */
const alone = [
  'test/http/body-limits.test.ts',
  'test/http/json-bodies.test.ts',
  'test/http/media-types.test.ts',
  'test/http/rate-limit.test.ts',
  'test/http/sign-in-attempts.test.ts',
]

/** What is the engine's own. */
const ofPostgres = ['test/postgres/**/*.test.ts', 'test/storage/postgres/**/*.test.ts']

/** One suite for every engine: what Cairn promises, whatever keeps the data. */
const onEveryEngine = [
  'test/browser/reports.test.ts',
  'test/cli/*.test.ts',
  'test/contract/*.test.ts',
  'test/durability/*.test.ts',
  'test/hostile/activity.test.ts',
  'test/http/*.test.ts',
  'test/operations/*.test.ts',
  'test/storage/*.test.ts',
]

/** Of those, what opens no store, or one whose engine it names. */
const storeless = [
  'test/cli/cairn.test.ts',
  'test/cli/configuration.test.ts',
  'test/cli/dev.test.ts',
  'test/cli/import-command.test.ts',
  'test/cli/launcher.test.ts',
  'test/cli/options.test.ts',
  'test/contract/additive.test.ts',
  'test/contract/components.test.ts',
  'test/contract/request-part.test.ts',
  'test/contract/roles-table.test.ts',
]

/** Of those, what is settled before a store is asked for more than the caller's key: no engine has a part in it. */
const beforeStores = [
  'test/http/body-limits.test.ts',
  'test/http/json-bodies.test.ts',
  'test/http/malformed-http.test.ts',
  'test/http/media-types.test.ts',
  'test/http/rate-limit.test.ts',
  'test/http/read-bodies.test.ts',
  'test/http/reference.test.ts',
  'test/http/request-id.test.ts',
  'test/http/security-headers.test.ts',
  'test/http/unknown-proxy.test.ts',
]

/** Of each engine two projects: what shares a process, and what is alone in it. */
const sqlite = projectsOf({
  env,
  name: 'cairn',
  include: ['test/**/*.test.ts'],
  exclude: [...configDefaults.exclude, coverage, ...ofPostgres],
  setupFiles: 'test/contract/record-replies.ts',
})
const postgres = projectsOf({
  env: { ...env, CAIRN_TEST_ENGINE: 'postgres' },
  name: 'postgres',
  include: [...ofPostgres, ...onEveryEngine],
  exclude: [...configDefaults.exclude, coverage, ...storeless, ...beforeStores],
  globalSetup: 'test/postgres/run.ts',
  setupFiles: ['test/contract/record-replies.ts', 'test/postgres/drop-databases.ts'],
})

type Tests = { name: string; exclude: string[] } & TestProjectInlineConfiguration['test']

function projectsOf(tests: Tests): TestProjectInlineConfiguration[] {
  const { name, exclude } = tests
  const test = { ...timeouts, ...tests, sequence: { groupOrder: 1 } }
  return [
    { resolve, test: { ...test, exclude: [...exclude, ...alone], isolate: false } },
    { resolve, test: { ...test, name: `${name}-alone`, include: alone } },
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
    globalSetup: ['test/run-folder.ts', 'test/contract/records-folder.ts', 'test/build.js'],
    projects: [
      ...sqlite,
      ...(hasPostgres() ? postgres : []),
      // What the others have seen is complete when they have ended. (Order 0 would come last with one worker.)
      { test: { ...timeouts, name: 'coverage', include: [coverage], sequence: { groupOrder: 2 } } },
    ],
  },
})
