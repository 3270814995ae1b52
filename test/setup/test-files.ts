import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ENGINES = ['sqlite', 'postgres'] as const

type Engine = (typeof ENGINES)[number]

export type TestFile = {
  path: string
  /** Empty for a file that opens no store. */
  engines: readonly Engine[]
  /** Whether it has a process to itself, because it measures the memory or processor time of the process. */
  alone: boolean
  /** What is wrong with its declaration. */
  fault?: string
}

/** The first line of a file that runs on one engine, or on none, contains the reason. */
const DECLARATION = /^\/\/ engines: (sqlite, postgres|(?:sqlite|postgres|none) \(\S.*\))$/

const FORMS = `// engines: sqlite, postgres
// engines: sqlite (why not on PostgreSQL)
// engines: postgres (why not on SQLite)
// engines: none (why it needs no engine)`

/**
 * Returns the test files in a folder, at any depth, but none of installed packages: check:foreign installs some below the
 * tests. Each declares on its first line the engines that it runs on.
 */
export function testFiles(folder: string): TestFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .sort()
    .map((path) => declared(join(folder, path).replaceAll('\\', '/')))
}

function declared(path: string): TestFile {
  const [first = '', second = ''] = readFileSync(path, 'utf8').split('\n', 2)
  const [, engines] = DECLARATION.exec(first) ?? []
  const alone = second.startsWith('// alone: ')
  // It runs all the same, so that a new test can be tried at once; test-files.test.ts fails until it is declared.
  if (engines === undefined) return { path, engines: ['sqlite'], alone, fault: faultOf(path, first) }
  return { path, engines: ENGINES.filter((engine) => engines.split(' (', 1)[0]?.includes(engine)), alone }
}

function faultOf(path: string, first: string): string {
  return `${path}: the first line must be one of\n${FORMS}\nbut is\n${first}`
}
