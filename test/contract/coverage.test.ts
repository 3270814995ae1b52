// engines: none (compares what other tests recorded)

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { declaredReplies, operations } from '../fixtures/contract/document.ts'
import { settings } from '../fixtures/contract/target.ts'

const declared = operations.flatMap(declaredReplies)
const recordsFolder = inject('recordsFolder')
const seen = new Set(
  readdirSync(recordsFolder).flatMap((name): string[] => {
    return JSON.parse(readFileSync(join(recordsFolder, name), 'utf8'))
  }),
)

const missing = declared.filter((kind) => !seen.has(kind))

if (settings.baseUrl !== undefined) {
  // In a deployment only operations without inside access can be tested; the rest is listed instead of skipped
  // silently.
  const lists = [`Exercised:\n  ${[...seen].join('\n  ')}`, `Not exercised:\n  ${missing.join('\n  ')}`]
  process.stdout.write(`\n${lists.join('\n')}\n\n`)
}

it('the tests have seen every response that the contract declares', () => {
  expect(declared.length).toBeGreaterThan(0)
  expect(settings.baseUrl === undefined ? missing : []).toEqual([])
  expect(seen.size).toBeGreaterThan(0)
})

it('the server has sent no response that the contract does not declare', () => {
  expect([...seen].filter((kind) => !declared.includes(kind))).toEqual([])
})
