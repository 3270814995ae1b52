// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { definitionFaults } from '../../admin/definitions/definition-draft.ts'
import { definedValue, draftOf, isSameValue } from '../../admin/definitions/value-draft.ts'
import { fieldsOf, ruleTexts, typeText, violatedField } from '../../admin/definitions/value-words.ts'
import type { Schemas } from '../../client/person.ts'

describe('The fields of the form of a definition', () => {
  const field = (value: object) => ({ type: 'object', properties: { a: value }, required: ['a'] })

  it.each([
    { type: 'object' },
    {
      type: 'object',
      title: 'Title',
      description: 'Description',
      deprecated: true,
      additionalProperties: false,
    },
    field({}),
    field({ type: 'string', enum: ['free', 'a, b'], minLength: 1, maxLength: 20 }),
    field({ type: 'string', format: 'date-time', description: 'When' }),
    field({ type: 'number', enum: [1, 2.5], minimum: -1e21, maximum: 0.5 }),
    field({ type: 'integer', minimum: 0 }),
    field({ type: 'boolean', deprecated: true }),
    field({
      type: 'array',
      minItems: 1,
      items: field({ type: 'array', items: { type: 'string', format: 'uuid' } }),
    }),
    field({ type: 'array', items: {} }),
  ])('express %j', (variables) => {
    const draft = draftOf(variables)
    expect(draft && definedValue(draft)).toEqual(variables)
  })

  it.each([
    [],
    null,
    {},
    { type: 'string' },
    { type: 'object', enum: ['a'] },
    { type: 'object', required: ['b'] },
    { type: 'object', unknown: true },
    field({ type: ['string', 'null'] }),
    field({ type: 'null' }),
    field({ type: 'boolean', enum: [true] }),
    field({ type: 'string', enum: [''] }),
    field({ type: 'string', enum: [1] }),
    field({ enum: ['a'] }),
    field({ minimum: 1 }),
    field({ type: 'array', items: { type: ['string'] } }),
    field({ type: 'integer', format: 'date' }),
  ])('leave %j to JSON', (variables) => {
    expect(draftOf(variables)).toBeUndefined()
  })

  it.each([
    [{ type: 'integer', minimum: 9, maximum: 10 }, {}],
    [{ type: 'integer', minimum: 10, maximum: 9 }, { most: 'Must not be less than the minimum.' }],
    [{ type: 'number', minimum: -1.5, maximum: -1.5 }, {}],
    [{ type: 'string', minLength: 1.5 }, { least: 'Enter a whole number, 0 or more.' }],
    [{ type: 'array', items: {}, maxItems: -1 }, { most: 'Enter a whole number, 0 or more.' }],
    [{ type: 'integer', enum: [1, 2] }, {}],
    [{ type: 'integer', enum: [1, 2.5] }, { allowed: '“2.5” is not an integer.' }],
    [{ type: 'number', enum: [1, 2.5] }, {}],
    [{ type: 'string', enum: Array.from({ length: 100 }, String) }, {}],
    [{ type: 'string', enum: Array.from({ length: 101 }, String) }, { allowed: 'Use at most 100 values.' }],
    [{ type: 'string', description: 'x'.repeat(2001) }, { description: expect.any(String) }],
  ])('say what is wrong in case %#', (value, wrong) => {
    const variables = draftOf(field(value))
    const draft = { event_id: 'paid', description: '', mode: 'warn', isJson: false, json: '' } as const
    const found = variables && definitionFaults({ ...draft, variables })
    const expected = Object.entries(wrong).map(([name, fault]) => [`variables.fields.0.${name}`, fault])
    expect(found).toEqual(Object.fromEntries(expected))
  })

  it.each([
    ['plan', undefined],
    ['', 'Enter the name of the field, as your application sends it.'],
    ['a', 'There is already a field with this name.'],
    ['__proto__', 'This name cannot be used.'],
  ])('have names of their own: “%s”', (name, fault) => {
    const variables = draftOf({ type: 'object', properties: { a: {}, b: {} } })
    if (variables?.fields[1]) variables.fields[1].name = name
    const draft = { event_id: 'paid', description: '', mode: 'warn', isJson: false, json: '' } as const
    expect(variables && definitionFaults({ ...draft, variables })).toEqual(
      fault ? { 'variables.fields.1.name': fault } : {},
    )
  })

  it('say the same in any order, and with what goes without saying', () => {
    const one = { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] }
    const other = {
      required: ['b', 'a'],
      additionalProperties: true,
      description: '',
      properties: { b: { deprecated: false }, a: { type: 'string' } },
      type: 'object',
    }
    expect(isSameValue(one, other)).toBe(true)
    expect(isSameValue(one, { ...other, required: ['a'] })).toBe(false)
    expect(isSameValue(one, { ...other, additionalProperties: false })).toBe(false)
    expect(isSameValue({ enum: ['a', 'b'] }, { enum: ['b', 'a'] })).toBe(false)
  })
})

describe('The words for a definition', () => {
  it.each([
    [{}, 'Any value', []],
    [{ type: 'string', format: 'date-time' }, 'Date and time', []],
    [{ type: ['string', 'null'] }, 'String or null', []],
    [{ type: 'integer', minimum: 1, maximum: 1000 }, 'Integer', ['1 to 1,000']],
    [{ type: 'string', minLength: 2 }, 'String', ['at least 2 characters']],
    [{ type: 'object', additionalProperties: false }, 'Object', ['no other fields']],
    [
      { type: 'array', maxItems: 3, items: { type: 'number', maximum: 0 } },
      'Array of Number',
      ['at most 3 items', 'each at most 0'],
    ],
  ] as [Schemas['DefinedValue'], string, string[]][])(
    '%j are its type and its rules',
    (value, type, rules) => {
      expect([typeText(value), ruleTexts(value)]).toEqual([type, rules])
    },
  )

  it('place each field, also in items of an array', () => {
    const item = { type: 'object', properties: { 'a/b': {} }, required: ['a/b'] } as const
    const fields = fieldsOf({
      type: 'object',
      properties: { tags: { type: 'array', items: { ...item, required: ['a/b'] } }, plan: {} },
    })
    expect(fields.map(({ pointer, level, isRequired }) => [pointer, level, isRequired])).toEqual([
      ['/tags', 0, false],
      ['/tags/-/a~1b', 1, true],
      ['/plan', 0, false],
    ])
    expect(['/custom_variables/tags/-/a~1b', '/custom_variables'].map(violatedField)).toEqual([
      'tags[].a/b',
      'custom_variables',
    ])
  })
})
