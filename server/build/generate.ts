/**
 * Development: generates everything in `generated/`. With `--check` it writes nothing and fails if a file differs from
 * what it would write.
 *
 *   contract.ts     types of the contract, by openapi-typescript
 *   operations.ts   method and path of each operationId, with the contract's descriptions: for keys and for people
 *   tables.ts       types of the tables that all engines share, by kysely-codegen from a freshly migrated database
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { migrateFile } from '../storage/sqlite/migrate-file.ts'

type Security = Record<string, unknown>[]
type Contract = {
  security: Security
  paths: Record<
    string,
    Record<string, { operationId?: string; summary: string; description: string; security?: Security }>
  >
}

const check = process.argv.includes('--check')
const folder = mkdtempSync(join(tmpdir(), 'cairn-generate-'))
const stale: string[] = []

try {
  put('contract.ts', contractTypes())
  put('operations.ts', operationTable())
  put('tables.ts', await tableTypes())
} finally {
  rmSync(folder, { recursive: true })
}
if (stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.join(', ')}. Run npm run generate and commit what it writes.\n`)
  process.exitCode = 1
}

function put(name: string, content: string) {
  const path = join('generated', name)
  if (!check) writeFileSync(path, content)
  else if (readFileSync(path, 'utf8') !== content) stale.push(path)
}

function contractTypes() {
  const path = join(folder, 'contract.ts')
  // A property with a default stays optional in requests; an object without declared properties may have any
  // properties.
  const options = ['--default-non-nullable=false', '--empty-objects-unknown']
  run('openapi-typescript', 'openapi.yaml', ...options, '--output', path)
  return readFileSync(path, 'utf8')
}

function operationTable() {
  const { paths, security } = load(readFileSync('openapi.yaml', 'utf8')) as Contract
  const keys: string[] = []
  const people: string[] = []
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId, summary, description } = operation
      if (!operationId) continue
      const isForKeys = (operation.security ?? security).some((scheme) =>
        /Key$/.test(Object.keys(scheme).join()),
      )
      const text = `${summary}\n\n${description}`.trim().split('\n')
      ;(isForKeys ? keys : people).push(
        '  /**',
        ...text.map((line) => `   * ${line}`.trimEnd()),
        '   */',
        `  ${operationId}: ['${method.toUpperCase()}', '${path}'],`,
      )
    }
  }
  return [
    '// Made by `npm run generate`; do not edit.',
    '',
    '/** Method and path of each operation of the contract that a service key opens. */',
    'export const operationPaths = {',
    ...keys,
    '} as const',
    '',
    '/** Method and path of the others: they are for people, who sign in. */',
    'export const personOperationPaths = {',
    ...people,
    '} as const',
    '',
  ].join('\n')
}

async function tableTypes() {
  const database = join(folder, 'tables.db')
  const path = join(folder, 'tables.ts')
  await migrateFile(database)
  // Each engine stores events in its own way.
  const tables = [
    '--dialect=sqlite',
    `--url=${database}`,
    '--exclude-pattern={events,event_{counts,indexing,keys,pages,runs,series,spans,stretches}*,enrolment*}',
  ]
  run('kysely-codegen', ...tables, `--out-file=${path}`, '--log-level=error')
  // One engine joins its tables by row number; queries for every engine must not use these columns.
  return readFileSync(path, 'utf8').replace(/^ {2}\w+_ref: .*\n/gm, '')
}

function run(command: string, ...args: string[]) {
  execFileSync(join('node_modules', '.bin', command), args, { stdio: ['ignore', 'ignore', 'inherit'] })
}
