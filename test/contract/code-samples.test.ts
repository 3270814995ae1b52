// engines: none (texts of the API reference)

import { execFileSync } from 'node:child_process'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { withSamples } from '../../server/docs/samples.ts'
import { contractDocument, operationFor, operations } from '../fixtures/contract/document.ts'

type Sampled = { operationId: string; 'x-codeSamples': { label: string; source: string }[] }

const { paths } = withSamples(contractDocument()) as { paths: Record<string, Record<string, Sampled>> }
const sampled = Object.values(paths).flatMap((methods) => Object.values(methods))

/** The samples of a kind, by operation. */
function samples(kind: string): [string, string][] {
  return sampled.map(({ operationId, 'x-codeSamples': all }) => [
    operationId,
    all.find(({ label }) => label === kind)?.source ?? '',
  ])
}

/** What a shell gives curl in each sample. */
function argumentsOf(sources: string[]): string[][] {
  const script = ['curl() { for word; do printf "%s\\0" "$word"; done; printf "\\f"; }', ...sources].join(
    '\n',
  )
  const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
  return printed
    .split('\f')
    .slice(0, -1)
    .map((words) => words.split('\0').slice(0, -1))
}

it('with curl send what the contract asks for', () => {
  const all = samples('curl')
  const given = argumentsOf(all.map(([, source]) => source))
  expect(given).toHaveLength(operations.length)
  for (const [index, [operationId]] of all.entries()) {
    const words = given[index] ?? []
    const after = (option: string) => words[words.indexOf(option) + 1] ?? ''
    const url = new URL(words.find((word) => word.startsWith('http')) ?? '')
    const method = words.includes('-X') ? after('-X') : words.includes('-d') ? 'POST' : 'GET'
    const operation = operationFor(method, url.pathname.replace('/v1', ''))
    expect(operation?.operationId).toBe(operationId)
    const needed = operation?.parameters.filter((one) => one.in === 'query' && one.required) ?? []
    expect([...url.searchParams.entries()]).toEqual(needed.map((one) => [one.name, String(one.example)]))
    const [example] = Object.values(operation?.body?.examples ?? {})
    expect(words.includes('-d') ? JSON.parse(after('-d')) : undefined).toEqual(example?.value)
  }
})

it('with the client compile', () => {
  const bodies = samples('TypeScript client').map(([operationId, source]) => {
    const lines = source.split('\n').filter((line) => !line.startsWith('import '))
    return `export async function ${operationId}() {\n${lines.join('\n')}\nreturn { data, error }\n}`
  })
  expect(bodies).toHaveLength(operations.length)
  const source = `
    import { createClient } from './client/index.ts'
    import { createPersonClient } from './client/person.ts'
    declare const serviceKey: string, workspaceId: string
    ${bodies.join('\n')}`
  expect(problemsOf(source)).toEqual([])
})

/** What the compiler says about a module in the project's folder. */
function problemsOf(source: string): string[] {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
    { ...ts.sys, readDirectory: () => [] },
    '.',
  )
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile
  host.getSourceFile = (name, version, ...rest) =>
    name === 'samples.ts' ? ts.createSourceFile(name, source, version) : read(name, version, ...rest)
  const problems = ts.getPreEmitDiagnostics(ts.createProgram(['samples.ts'], options, host))
  return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
