// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareValues,
  valueReader,
  variableFilter,
  variablesTest,
} from '../../server/domain/event-values.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'

const LOOKING_LIKE_JSON = [
  '"',
  '{',
  '[',
  ',',
  ':',
  '"plan":',
  ',"plan":1',
  'a,',
  ':1,',
  '::',
  'x,"plan',
  '\\u',
  '\u2028',
  '\ud800',
]

/**
 * Names and texts, also ones that look like parts of JSON. None ends with a backslash: after an object with such a name,
 * JSON.parse of Node 24.21 reads a name that ends with a quotation mark as that one.
 */
const names = fc
  .oneof(fc.constantFrom('plan', 'a', '', ...LOOKING_LIKE_JSON), fc.string({ maxLength: 4 }))
  .filter((name) => !name.endsWith('\\'))

const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    names,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }),
  ),
})).value

describe('valueReader', () => {
  it('reads from stored JSON what parsing it gives', () => {
    const sent = fc.dictionary(names, values, { maxKeys: 6 })
    fc.assert(
      fc.property(sent, names, fc.boolean(), (variables, name, isText) => {
        const json = JSON.stringify(variables)
        const value: unknown = Object.hasOwn(variables, name) ? JSON.parse(json)[name] : undefined
        const isSet = ['string', 'number', 'boolean'].includes(typeof value)
        const expected = isSet ? (value === 0 ? 0 : value) : undefined
        expect(valueReader(name)(isText ? JSON.stringify(json) : json)).toBe(expected)
      }),
      { numRuns: casesToTry({ inCi: 20_000, elsewhere: 4_000 }) },
    )
  })

  it.each([
    ['{"plan":"team"}', 'team'],
    ['{"seats":5,"plan":true}', true],
    ['{"plan":-1.5e3}', -1500],
    ['{"plan":1,"seats":2}', 1],
    ['{"old":{"plan":"team"}}', undefined],
    ['{"old":{"plan":"team"},"plan":"free"}', 'free'],
    ['{"note":"\\"plan\\":1","plan":2}', 2],
    ['{"a\\"plan":1}', undefined],
    ['{"plan":1e400}', undefined],
    ['"not JSON"', undefined],
    ['[{"plan":1}]', undefined],
    [null, undefined],
  ])('reads from %s the plan %s', (json, plan) => {
    expect(valueReader('plan')(json)).toBe(plan)
  })

  it.each([
    ['{",":":"}', ':'],
    ['{"a,":1,":":true}', ':1,'],
    ['{"a":"b,",":true,":1}', ','],
  ])('does not take part of %s for the name %j', (json, name) => {
    expect(valueReader(name)(json)).toBeUndefined()
  })
})

describe('a filter by a variable', () => {
  it.each([
    ['plan:team', { name: 'plan', value: 'team' }],
    ['plan:a:b', { name: 'plan', value: 'a:b' }],
    ['plan:', { name: 'plan', value: '' }],
    [':plan:a', { name: ':plan', value: 'a' }],
  ])('is read from %s', (text, filter) => {
    expect(variableFilter(text)).toEqual(filter)
  })

  it('compares a number or boolean as its JSON text', () => {
    const matches = variablesTest([{ name: 'seats', value: '5' }])
    expect(['{"seats":5}', '{"seats":"5"}', '{"seats":5.5}', null].map(matches)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})

describe('compareValues', () => {
  it('orders texts before numbers before booleans, and numbers by their size', () => {
    const values = ['10', '9', 'team', -1, 0.5, 9, 10, 1e21, false, true]
    expect(values.toReversed().sort(compareValues)).toEqual(values)
  })
})
