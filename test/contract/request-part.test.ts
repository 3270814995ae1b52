// engines: none (opens no store)

import { expect, it } from 'vitest'
import { isRecursive, requestPart } from '../../server/http/checks/request-part.ts'
import { contractDocument } from '../fixtures/contract/document.ts'

type Document = {
  paths: Record<string, Record<string, { responses: object }>>
  components: Record<string, Record<string, unknown>>
}

const whole = contractDocument() as Document
const part = requestPart(whole)

it('has every request of the contract, and no response', () => {
  for (const [path, methods] of Object.entries(whole.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      expect(part.paths[path]?.[method]).toEqual({ ...operation, responses: {} })
    }
  }
})

it('has the components that it refers to, and no others', () => {
  const text = JSON.stringify(part)
  const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name]) => name))
  const { securitySchemes, ...components } = part.components
  const held = Object.entries(components).flatMap(([kind, named]) => {
    for (const name of Object.keys(named)) expect(named[name]).toEqual(whole.components[kind]?.[name])
    return Object.keys(named).map((name) => `${kind}/${name}`)
  })
  expect(new Set(held)).toEqual(referred)
  expect(referred.size).toBeGreaterThan(10)
  expect(securitySchemes).toEqual(whole.components.securitySchemes)
})

it('knows which bodies contain themselves', () => {
  const recursive = Object.values(whole.paths).flatMap((methods) =>
    Object.values(methods).flatMap((operation) => {
      const { operationId, requestBody } = operation as { operationId?: string; requestBody?: object }
      return isRecursive(requestBody, whole.components) ? [operationId] : []
    }),
  )
  expect(recursive.sort()).toEqual(['defineEvent', 'updateEventDefinition'])
})

it('is a deep copy', () => {
  const before = JSON.stringify(whole)
  for (const methods of Object.values(requestPart(whole).paths)) {
    for (const operation of Object.values(methods)) Object.assign(operation, { changed: true })
  }
  expect(JSON.stringify(whole)).toBe(before)
})
