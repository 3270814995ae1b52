import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { operations } from './document.ts'

const declared = operations.flatMap(({ operationId, replies }) =>
  Object.entries(replies).flatMap(([status, { content }]) =>
    Object.keys(content).map((type) => `${operationId} ${status} ${type}`),
  ),
)
const recordsFolder = inject('recordsFolder')
const seen = new Set(
  readdirSync(recordsFolder).flatMap((name): string[] => {
    return JSON.parse(readFileSync(join(recordsFolder, name), 'utf8'))
  }),
)

it('the tests have seen every reply that the contract declares', () => {
  expect(declared.length).toBeGreaterThan(0)
  expect(declared.filter((kind) => !seen.has(kind))).toEqual([])
})

it('the server has sent no reply that the contract does not declare', () => {
  expect([...seen].filter((kind) => !declared.includes(kind))).toEqual([])
})
