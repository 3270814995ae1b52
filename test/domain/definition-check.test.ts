// engines: none (opens no store)

import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { definitionCheck, LISTED_VIOLATIONS } from '../../server/domain/definition-check.ts'
import { fitOf } from '../../server/domain/definition-fit.ts'
import { type DefinedValue, definitionFaults } from '../../server/domain/event-definitions.ts'
import { pointerTo } from '../../server/domain/pointers.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'

type Violation = components['schemas']['Violation']

/** The violations of a value by a definition of the field `a`. */
function violationsOf(a: DefinedValue, value: unknown): Violation[] {
  return definitionCheck({ type: 'object', properties: { a } })({ a: value })
}

describe('a check of variables', () => {
  it.each<[string, DefinedValue, unknown, Partial<Violation>[]]>([
    [
      'another type',
      { type: 'string' },
      12,
      [{ code: 'wrong_type', detail: 'must be string', expected: 'string', found: 'number' }],
    ],
    [
      'none of several types',
      { type: ['integer', 'null'] },
      1.5,
      [{ code: 'wrong_type', expected: 'integer or null', found: 'number' }],
    ],
    ['a whole number with a fraction of zero', { type: 'integer' }, 1.0, []],
    ['null', { type: 'object' }, null, [{ code: 'wrong_type', found: 'null' }]],
    ['an array for an object', { type: 'object' }, [], [{ code: 'wrong_type', found: 'array' }]],
    ['any value', {}, { b: [null] }, []],
    [
      'a value outside the enumeration',
      { enum: ['free', 2, null] },
      'Free',
      [
        {
          code: 'not_in_enum',
          detail: 'must be one of "free", 2, null',
          expected: 'one of "free", 2, null',
          found: 'string',
        },
      ],
    ],
    ['a number that equals a text', { enum: ['2'] }, 2, [{ code: 'not_in_enum', expected: '"2"' }]],
    [
      'a number below',
      { minimum: 1 },
      0,
      [{ code: 'out_of_bounds', detail: 'must be at least 1', expected: 'at least 1', found: 'number' }],
    ],
    ['a number above', { maximum: 1 }, 1.1, [{ code: 'out_of_bounds', expected: 'at most 1' }]],
    ['the last number accepted', { minimum: 1, maximum: 1 }, 1, []],
    [
      'a short text',
      { minLength: 2 },
      '🎉',
      [
        {
          code: 'out_of_bounds',
          detail: 'must have at least 2 characters',
          expected: 'at least 2 characters',
          found: 'string',
        },
      ],
    ],
    ['two characters of two code units', { minLength: 2, maxLength: 2 }, '🎉🎉', []],
    ['a long text', { maxLength: 1 }, '🎉🎉', [{ code: 'out_of_bounds', expected: 'at most 1 character' }]],
    [
      'a long array',
      { maxItems: 1 },
      [1, 2],
      [
        {
          code: 'out_of_bounds',
          detail: 'must have at most 1 item',
          expected: 'at most 1 item',
          found: 'array',
        },
      ],
    ],
    [
      'a date that does not exist',
      { format: 'date' },
      '2023-02-30',
      [{ code: 'wrong_format', detail: 'must have the format date', expected: 'date', found: 'string' }],
    ],
    ['a date', { format: 'date' }, '2024-02-29', []],
    ['a time without an offset', { format: 'date-time' }, '2024-02-29T10:00:00', [{ code: 'wrong_format' }]],
    ['a time after a space', { format: 'date-time' }, '2024-02-29 10:00:00Z', [{ code: 'wrong_format' }]],
    ['an offset of hours', { format: 'date-time' }, '2024-02-29T10:00:00+01', [{ code: 'wrong_format' }]],
    [
      'an offset without colon',
      { format: 'date-time' },
      '2024-02-29T10:00:00+0100',
      [{ code: 'wrong_format' }],
    ],
    ['a leap second in lower case', { format: 'date-time' }, '2017-01-01t00:59:60.5+01:00', []],
    ['a number where a text has a format', { format: 'email' }, 5, []],
  ])('reports %s', (_, defined, value, expected) => {
    const found = violationsOf(defined, value)
    expect(found).toEqual(
      expected.map((one) => expect.objectContaining({ pointer: '/custom_variables/a', ...one })),
    )
  })

  it('names the field that is missing, unexpected or within an array', () => {
    const check = definitionCheck({
      type: 'object',
      required: ['plan/a', 'seats'],
      additionalProperties: false,
      properties: {
        'plan/a': { type: 'string' },
        seats: {},
        list: { type: 'array', items: { type: 'object', additionalProperties: false } },
      },
    })
    expect(check({ 'Plan / A': 1, seats: 2, 'o~': null, list: [{}, { x: 'secret' }] })).toEqual([
      {
        code: 'missing',
        pointer: '/custom_variables/plan~1a',
        detail: 'is required',
        expected: 'string',
        found: 'nothing',
      },
      {
        code: 'unexpected',
        pointer: '/custom_variables/Plan ~1 A',
        detail: 'is not in the definition; did you mean "plan/a"?',
        expected: 'nothing',
        found: 'number',
        did_you_mean: 'plan/a',
      },
      {
        code: 'unexpected',
        pointer: '/custom_variables/o~0',
        detail: 'is not in the definition',
        expected: 'nothing',
        found: 'null',
      },
      {
        code: 'unexpected',
        pointer: '/custom_variables/list/1/x',
        detail: 'is not in the definition',
        expected: 'nothing',
        found: 'string',
      },
    ])
  })

  it.each([
    ['SEAT_COUNT', 'seatCount'],
    ['seat count', 'seatCount'],
    ['seat-count.', 'seatCount'],
    ['seat_counts', undefined],
    ['_', undefined],
  ])('suggests for %s: %s', (name, meant) => {
    const check = definitionCheck({
      type: 'object',
      properties: { seatCount: {} },
      additionalProperties: false,
    })
    expect(check({ [name]: 1 })[0]?.did_you_mean).toBe(meant)
    // It was sent, so another one is meant.
    expect(check({ seatCount: 1, [name]: 1 })[0]?.did_you_mean).toBeUndefined()
  })

  it('suggests the first of several names that are spelt alike', () => {
    const properties = { seatCount: {}, seat_count: {} }
    const check = definitionCheck({ type: 'object', properties, additionalProperties: false })
    expect(check({ SEATCOUNT: 1 })[0]?.did_you_mean).toBe('seatCount')
  })

  it('looks at own fields only', () => {
    const inherited = ['constructor', 'toString', 'hasOwnProperty', 'valueOf']
    const properties = Object.fromEntries(inherited.map((name) => [name, { type: 'string' as const }]))
    const required = definitionCheck({ type: 'object', properties, required: inherited })
    expect(required({}).map(({ code }) => code)).toEqual(inherited.map(() => 'missing'))
    const closed = definitionCheck({ type: 'object', additionalProperties: false })
    const sent = JSON.parse('{"__proto__":1,"constructor":2}')
    expect(closed(sent).map(({ pointer }) => pointer)).toEqual([
      '/custom_variables/__proto__',
      '/custom_variables/constructor',
    ])
  })

  it('lists twenty violations and looks no further', () => {
    const check = definitionCheck({
      type: 'object',
      properties: { list: { items: { type: 'null' } } },
      additionalProperties: false,
    })
    const list = Array.from({ length: 20_000 }, () => 1)
    expect(check({ list })).toHaveLength(LISTED_VIOLATIONS)
    expect(check(Object.fromEntries(list.entries()))).toHaveLength(LISTED_VIOLATIONS)
  })

  it('keeps texts within the contract, whatever the definition says', () => {
    const long = '🎉'.repeat(400)
    const [violation] = violationsOf({ enum: [long, 'x'] }, 1)
    expect(violation?.expected).toMatch(/^one of "🎉+.?…$/u)
    expect(violation?.detail.length).toBeLessThanOrEqual(500)
    const check = definitionCheck({ type: 'object', properties: { [long]: {} }, additionalProperties: false })
    expect(check({ [`${long}_`]: 1 })[0]?.detail.length).toBeLessThanOrEqual(500)
  })

  it('equals Ajv in verdict and pointers', () => {
    fc.assert(
      fc.property(
        definitions.chain((definition) =>
          fc.tuple(fc.constant(definition), fc.array(valuesFor(definition), { maxLength: 8 })),
        ),
        ([definition, values]) => {
          fc.pre(definitionFaults(definition).length === 0)
          const isValid = ajvCheck(definition)
          const check = definitionCheck(definition)
          const fits = fitOf(definition)
          for (const value of values) {
            const found = check(value)
            expect(found.length === 0).toBe(isValid(value))
            expect(fits(value)).toBe(isValid(value))
            const pointers = new Set((isValid.errors ?? []).map(pointerOf))
            if (pointers.size < LISTED_VIOLATIONS)
              expect(new Set(found.map(({ pointer }) => pointer))).toEqual(pointers)
          }
        },
      ),
      { numRuns: casesToTry({ inCi: 500, elsewhere: 100 }) },
    )
  })
})

/** The check as Ajv makes it. */
function ajvCheck(definition: DefinedValue) {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    allErrors: true,
    ownProperties: true,
  })
  return formats.default(ajv, { mode: 'full' }).compile(definition)
}

type AjvError = NonNullable<ReturnType<typeof ajvCheck>['errors']>[number]

function pointerOf({ instancePath, params }: AjvError): string {
  const parent = `/custom_variables${instancePath}`
  const name: unknown = params.missingProperty ?? params.additionalProperty
  return typeof name === 'string' ? pointerTo(parent, name) : parent
}

const NAMES = fc.constantFrom('a', 'b', 'A', 'a/b', '~', '', '0', 'constructor', 'toString', 'é')
const TEXTS = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom(
    '2024-02-29',
    '2023-02-29',
    '2024-02-29T10:00:00Z',
    '2024-02-29T10:00:00',
    '1990-12-31T23:59:60Z',
    'a@b.example',
    'a@b',
    'https://x.example/',
    'mailto:x',
    '/x',
    '018f2c6e-7c7e-4a0e-9d2f-3f7f3f0f5a55',
    '🎉',
    '\ud800',
  ),
)
const SCALARS = fc.oneof(
  TEXTS,
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(0.5, -0, 1e300),
  fc.boolean(),
  fc.constant(null),
)
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const
const bound = fc.integer({ min: 0, max: 3 })

const { value: definedValues } = fc.letrec<{ value: DefinedValue }>((tie) => ({
  value: fc
    .record(
      {
        type: fc.oneof(
          fc.constantFrom(...TYPES),
          fc.uniqueArray(fc.constantFrom(...TYPES), { minLength: 1 }),
        ),
        properties: fc.dictionary(NAMES, fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('value')), {
          maxKeys: 4,
        }),
        required: fc.uniqueArray(NAMES, { maxLength: 3 }),
        additionalProperties: fc.boolean(),
        items: fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('value')),
        enum: fc.uniqueArray(SCALARS, { minLength: 1, maxLength: 3 }),
        minLength: bound,
        maxLength: bound,
        minimum: bound,
        maximum: bound,
        minItems: bound,
        maxItems: bound,
        format: fc.constantFrom('date-time', 'date', 'email', 'uuid', 'uri'),
      },
      { requiredKeys: [] },
    )
    .map(consistent),
}))

const definitions = definedValues.map(({ enum: _, ...value }) => consistent({ ...value, type: 'object' }))

/** Leaves out what `definitionFaults` would refuse. */
function consistent({ required, ...value }: DefinedValue): DefinedValue {
  const names = Object.keys(value.properties ?? {})
  const defined: DefinedValue = {
    ...value,
    ...(required && { required: required.filter((name) => names.includes(name)) }),
  }
  const refused = definitionFaults({ ...defined, type: defined.type ?? [...TYPES] }).map(
    ({ pointer }) => pointer.split('/')[1],
  )
  return Object.fromEntries(
    Object.entries(defined).filter(([keyword]) => keyword === 'type' || !refused.includes(keyword)),
  )
}

/** Values that are near to a definition, and others. */
function valuesFor(defined: DefinedValue): fc.Arbitrary<unknown> {
  const { properties = {}, items, enum: values } = defined
  const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesFor(one)]))
  return fc.oneof(
    { weight: 3, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.record(fields, { requiredKeys: [] }), fc.dictionary(NAMES, SCALARS, { maxKeys: 2 }))
        .map(([a, b]) => ({ ...b, ...a })),
    },
    { weight: 1, arbitrary: fc.array(items ? valuesFor(items) : SCALARS, { maxLength: 4 }) },
    { weight: 2, arbitrary: values ? fc.constantFrom(...values) : SCALARS },
  )
}
