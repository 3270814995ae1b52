// engines: none (opens no store)

import { expect, it } from 'vitest'
import { requestPart } from '../../server/http/checks/request-part.ts'
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
    const unrolled = Object.keys(named).filter((name) => name.startsWith('DefinedValue'))
    for (const name of Object.keys(named)) {
      if (!unrolled.includes(name)) expect(named[name]).toEqual(whole.components[kind]?.[name])
    }
    return Object.keys(named).map((name) => `${kind}/${name}`)
  })
  expect(new Set(held)).toEqual(referred)
  expect(referred.size).toBeGreaterThan(10)
  expect(securitySchemes).toEqual(whole.components.securitySchemes)
})

it('has a schema that contains itself once per level, so that no reference leads back', () => {
  const schemas = part.components.schemas ?? {}
  const names = ['DefinedValue', ...[1, 2, 3, 4, 5, 6, 7].map((level) => `DefinedValue${level}`)]
  const original = JSON.stringify(whole.components.schemas?.DefinedValue)
  for (const [index, name] of names.entries()) {
    const inner = `#/components/schemas/DefinedValue${index + 1}`
    expect(schemas[name]).toEqual(
      JSON.parse(original.replaceAll('#/components/schemas/DefinedValue"', `${inner}"`)),
    )
  }
  expect(schemas.DefinedValue8).toEqual({})
})

it('is a deep copy', () => {
  const before = JSON.stringify(whole)
  for (const methods of Object.values(requestPart(whole).paths)) {
    for (const operation of Object.values(methods)) Object.assign(operation, { changed: true })
  }
  expect(JSON.stringify(whole)).toBe(before)
})
