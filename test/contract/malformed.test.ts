// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { head, problemOf, sendBytes } from '../fixtures/requests.ts'
import { pathTo } from './requests.ts'

/** Requests as bytes that never reach an operation, by name. */
const malformed: Record<string, (line: string) => string> = {
  malformed_request: (line) => head(line, { 'Bad Header': 'x' }),
  expectation_failed: (line) => head(line, { expect: 'something' }),
  headers_too_large: (line) => head(line, { x: 'x'.repeat(20_000) }),
  request_timeout: (line) => head(line).replace(/\r\n$/, ''),
}

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn({ patience: { head_ms: 500, request_ms: 1_000, check_ms: 50 } })
  return cairn.stop
})

describe.each(Object.entries(malformed))('every operation answers %s as it declares', (code, bytesOf) => {
  it.concurrent.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    async (_id, operation) => {
      const names = Object.fromEntries(operation.parameters.map(({ name, example }) => [name, example]))
      const line = `${operation.method} ${pathTo(operation, names)}`
      const reply = await sendBytes(cairn, line, bytesOf(line))
      expect(await problemOf(reply)).toMatchObject({ status: reply.status, code })
    },
  )
})
