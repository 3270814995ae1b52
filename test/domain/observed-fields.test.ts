// engines: none (pure rules)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definitionCheck } from '../../server/domain/definition-check.ts'
import { definitionFaults } from '../../server/domain/event-definitions.ts'
import { ObservedFields } from '../../server/domain/observed-fields.ts'

function observed(...events: unknown[]): ObservedFields {
  const fields = new ObservedFields()
  for (const event of events) fields.add(event)
  return fields
}

const fifty = (variables: unknown) => Array(50).fill(variables)

it('lists fields with their types, how many events have them, and few short values', () => {
  const { examined, ...rest } = {
    examined: 3,
    fields: observed({ plan: 'team', seats: 2 }, { plan: 'free' }, { seats: 2.5, ok: null }).fields(),
  }
  expect(examined).toBe(3)
  expect(rest.fields).toEqual([
    { pointer: '/plan', types: ['string'], events: 2, values: ['team', 'free'] },
    { pointer: '/seats', types: ['number'], events: 2, values: [2, 2.5] },
    { pointer: '/ok', types: ['null'], events: 1, values: [] },
  ])
})

it('lists what is inside objects and arrays, counting events and not items', () => {
  const fields = observed(
    { 'a/b': { c: true } },
    { list: [{ x: 1 }, { x: 2 }, { y: 'z' }] },
    { list: [] },
  ).fields()
  expect(fields).toEqual([
    { pointer: '/a~1b', types: ['object'], events: 1, values: [] },
    { pointer: '/a~1b/c', types: ['boolean'], events: 1, values: [true] },
    { pointer: '/list', types: ['array'], events: 2, values: [] },
    { pointer: '/list/-', types: ['object'], events: 1, values: [] },
    { pointer: '/list/-/x', types: ['integer'], events: 1, values: [1, 2] },
    { pointer: '/list/-/y', types: ['string'], events: 1, values: ['z'] },
  ])
})

it('lists no values if one is long or there are many', () => {
  const many = Array.from({ length: 11 }, (_, n) => ({ n }))
  expect(observed(...many).fields()).toEqual([{ pointer: '/n', types: ['integer'], events: 11, values: [] }])
  const [long] = observed({ text: 'x'.repeat(101) }, { text: 'short' }).fields()
  expect(long?.values).toEqual([])
  const [ten] = observed(...many.slice(1)).fields()
  expect(ten?.values).toHaveLength(10)
})

it('bounds what it keeps, however wide and deep events are', () => {
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`f${n}`, n]))
  expect(observed(wide).fields()).toHaveLength(200)
  let deep: unknown = 1
  for (let level = 0; level < 30; level += 1) deep = { in: deep }
  expect(observed(deep).fields()).toHaveLength(5)
})

describe('a suggestion', () => {
  it('needs fifty events', () => {
    const events = fifty({ a: 1 })
    expect(observed(...events.slice(1)).suggestion()).toBeUndefined()
    expect(observed(...events).suggestion()).toEqual({
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
    })
  })

  it('requires what every event has, also inside objects, and contains no values', () => {
    const events = [...fifty({ a: { b: 'x', c: [1] } }), { a: { b: null } }, 'a text']
    expect(observed(...events).suggestion()).toEqual({
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: {
            b: { type: ['string', 'null'] },
            c: { type: 'array', items: { type: 'integer' } },
          },
          required: ['b'],
        },
      },
    })
  })

  it('requires in the items of an array what every item has', () => {
    const events = fifty({ list: [{ x: 1, y: 1 }, { x: 1 }] })
    expect(observed(...events).suggestion()?.properties?.list?.items).toEqual({
      type: 'object',
      properties: { x: { type: 'integer' }, y: { type: 'integer' } },
      required: ['x'],
    })
  })

  it('leaves out a field that no definition can name', () => {
    const events = fifty(JSON.parse('{"__proto__":1,"plan":"team"}'))
    expect(Object.keys(observed(...events).suggestion()?.properties ?? {})).toEqual(['plan'])
  })

  it('is a sound definition to which all events conform, or none', () => {
    const event = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 7 }), { maxKeys: 8 })
    fc.assert(
      fc.property(fc.array(event, { minLength: 50, maxLength: 60 }), (events) => {
        const values = events.map((event) => JSON.parse(JSON.stringify(event)))
        const suggestion = observed(...values).suggestion()
        if (!suggestion) return
        expect(definitionFaults(suggestion)).toEqual([])
        const check = definitionCheck(suggestion)
        for (const value of values) expect(check(value)).toEqual([])
      }),
    )
  })
})
