// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../server/contract.ts'
import { LoopScheduler } from '../../server/http/rates/loop-scheduler.ts'
import { Problem } from '../../server/problems.ts'
import { operations } from '../fixtures/contract/document.ts'
import { settings } from '../fixtures/contract/target.ts'
import { allowed, broken } from './arbitraries.ts'

const { routes } = await loadContract(new URL('../../openapi.yaml', import.meta.url))
const scheduler = new LoopScheduler()

const rows = operations.flatMap(({ operationId, body, parameters }) => {
  const route = routes.find((route) => route.operationId === operationId)
  const isBodyAlone = parameters.every((parameter) => parameter.in === 'query')
  return body && route && isBodyAlone ? [{ operationId, schema: body.schema, route }] : []
})

/** A query, even an empty one, with which the validator checks every body. */
const VALIDATED = '?'

describe.each(rows)('a body of $operationId', ({ schema, route }) => {
  const faultsOf = async (body: unknown, query = '') => {
    const headers = { 'content-type': 'application/json' }
    const request = { method: route.method, originalUrl: `${route.path}${query}`, headers, params: {} }
    const loop = scheduler.begin({ workspaceId: '', caller: '' })
    await loop.next()
    try {
      return (await route.check(request, body, loop)).body === body ? [] : ['another body']
    } catch (error) {
      if (error instanceof Problem) return error.faults
      throw error
    } finally {
      loop.end()
    }
  }

  it('is accepted if the validator accepts it', async () => {
    const holds = async (body: unknown) => {
      expect(await faultsOf(body)).toEqual([])
      expect(await faultsOf(body, VALIDATED)).toEqual([])
    }
    await fc.assert(fc.asyncProperty(allowed(schema), holds), { numRuns: settings.requests })
  })

  it('is refused for the same faults as by the validator', async () => {
    const holds = async ({ value }: { value: unknown }) => {
      const faults = await faultsOf(value, VALIDATED)
      expect(faults).not.toEqual([])
      expect(await faultsOf(value)).toEqual(faults)
    }
    await fc.assert(fc.asyncProperty(broken(schema), holds), { numRuns: settings.requests })
  })

  it('may be anything else, and both agree', async () => {
    const holds = async (body: unknown) => {
      expect(await faultsOf(body)).toEqual(await faultsOf(body, VALIDATED))
    }
    await fc.assert(fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), holds), { numRuns: settings.requests })
  })
})
