// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { comparedValue, type DefinedValue, definitionFaults } from '../../server/domain/event-definitions.ts'

/** A definition of objects nested to a level; 0 is the variables themselves. */
function nested(levels: number): DefinedValue {
  return levels === 0 ? { type: 'object' } : { type: 'object', properties: { a: nested(levels - 1) } }
}

/** A definition of variables with a number of values, itself included. */
function wide(values: number): DefinedValue {
  const fields = Array.from({ length: values - 4 }, (_, index) => [`f${index}`, {}] as const)
  const group = (index: number) => ({
    properties: Object.fromEntries(fields.filter((_, at) => at % 3 === index)),
  })
  return { type: 'object', properties: { a: group(0), b: group(1), c: group(2) } }
}

function described(bytes: number): DefinedValue {
  const empty = { type: 'object', description: '' } as const
  return { ...empty, description: 'x'.repeat(bytes - JSON.stringify(empty).length) }
}

describe('the faults of a definition', () => {
  it.each<[string, DefinedValue]>([
    ['one without fields', { type: 'object' }],
    ['five levels', nested(5)],
    ['300 values', wide(300)],
    ['16 KiB', described(16_384)],
    [
      'every keyword',
      {
        type: 'object',
        required: ['a'],
        additionalProperties: false,
        properties: {
          a: { type: ['string', 'null'], minLength: 2, maxLength: 2, format: 'date', enum: ['x', null] },
          b: { type: 'integer', minimum: 1, maximum: 1, enum: [1] },
          c: { type: 'array', items: { type: 'number', enum: [1, 1.5] }, minItems: 0, maxItems: 0 },
          d: { minLength: 1, minimum: 1, minItems: 1, required: [], enum: [true] },
        },
      },
    ],
  ])('are none for %s', (_, variables) => {
    expect(definitionFaults(variables)).toEqual([])
  })

  it.each<[string, DefinedValue, string, string]>([
    ['another type than object', { type: ['object', 'null'] }, '/type', 'must be object'],
    ['no type', {}, '/type', 'must be object'],
    [
      'six levels',
      nested(6),
      '/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a',
      'must not be there: values are nested at most 5 levels deep',
    ],
    [
      '301 values',
      wide(301),
      '/properties/c/properties/f296',
      'must not be there: a definition has at most 300 values',
    ],
    ['16 KiB and a byte', described(16_385), '', 'must have at most 16384 bytes as JSON'],
    [
      'a keyword of another type',
      { type: 'object', properties: { 'a/b': { type: ['string', 'null'], minimum: 1 } } },
      '/properties/a~1b/minimum',
      'must not be there, or type must include number',
    ],
    [
      'a minimum above the maximum',
      { type: 'object', properties: { a: { items: { minimum: 2, maximum: 1 } } } },
      '/properties/a/items/minimum',
      'must not be greater than maximum',
    ],
    [
      'a value of another type',
      { type: 'object', properties: { a: { type: 'integer', enum: [1, 1.5] } } },
      '/properties/a/enum/1',
      'must have one of the types',
    ],
    [
      'a required field that is not defined, though every object inherits it',
      { type: 'object', properties: { a: {} }, required: ['a', 'toString'] },
      '/required/1',
      'must be one of the properties',
    ],
    [
      'a field named __proto__',
      { type: 'object', properties: JSON.parse('{"__proto__":{}}') },
      '/properties/__proto__',
      'must have another name',
    ],
  ])('include %s', (_, variables, pointer, detail) => {
    expect(definitionFaults(variables)).toEqual([{ pointer, detail }])
  })
})

describe('what is compared with a definition', () => {
  it('is what a string of JSON contains', () => {
    expect(comparedValue('{"plan":"team"}')).toEqual({ plan: 'team' })
    expect(comparedValue('[]')).toBe('[]')
    expect(comparedValue('no JSON')).toBe('no JSON')
  })

  it('is the string itself if an event with it would be too large: it takes long to parse', () => {
    const largest = `{"list":[${'[],'.repeat(21_000)}[]]}`
    expect(comparedValue(largest)).toEqual({ list: Array.from({ length: 21_001 }, () => []) })
    const larger = `{"list":[${'[],'.repeat(22_000)}[]]}`
    expect(comparedValue(larger)).toBe(larger)
  })
})
