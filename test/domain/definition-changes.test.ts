// engines: none (pure rules)

import { expect, it } from 'vitest'
import { definitionDifferences, isSameRevision, verdictOf } from '../../server/domain/definition-changes.ts'
import type { DefinedValue } from '../../server/domain/event-definitions.ts'

const text: DefinedValue = { type: 'string' }

/** An object with one field. */
const having = (a: DefinedValue, rules: DefinedValue = {}): DefinedValue => {
  return { type: 'object', properties: { a }, ...rules }
}
const none: DefinedValue = { type: 'object' }
const closed: DefinedValue = { type: 'object', additionalProperties: false }

it.each<[change: string, before: DefinedValue, after: DefinedValue, senders: string, readers: string]>([
  ['/a added', none, having(text), 'additive', 'additive'],
  ['/a added', none, having(text, { required: ['a'] }), 'breaking', 'additive'],
  ['/a added', closed, having(text, { additionalProperties: false }), 'additive', 'additive'],
  ['/a removed', having(text), none, 'additive', 'breaking'],
  ['/a removed', having(text, { additionalProperties: false }), closed, 'breaking', 'breaking'],
  ['/a required', having(text), having(text, { required: ['a'] }), 'breaking', 'additive'],
  ['/a optional', having(text, { required: ['a'] }), having(text), 'additive', 'breaking'],
  ['/a types', having(text), having({ type: 'number' }), 'breaking', 'breaking'],
  ['/a types', having(text), having({ type: ['string', 'null'] }), 'additive', 'breaking'],
  ['/a types', having({}), having(text), 'breaking', 'additive'],
  ['/a types', having({ type: 'integer' }), having({ type: 'number' }), 'additive', 'breaking'],
  ['/a types', having({ type: 'number' }), having({ type: 'integer' }), 'breaking', 'additive'],
  ['/a values', having(text), having({ ...text, enum: ['x'] }), 'breaking', 'additive'],
  ['/a values', having({ enum: ['x', 'y'] }), having({ enum: ['x'] }), 'breaking', 'additive'],
  ['/a values', having({ enum: ['x'] }), having({ enum: ['x', null] }), 'additive', 'breaking'],
  ['/a values', having({ ...text, enum: ['x'] }), having(text), 'additive', 'breaking'],
  ['/a bounds', having(text), having({ ...text, maxLength: 9 }), 'breaking', 'additive'],
  ['/a bounds', having({ maximum: 9 }), having({ maximum: 10 }), 'additive', 'breaking'],
  ['/a bounds', having({ minimum: 1 }), having({ minimum: 2 }), 'breaking', 'additive'],
  ['/a bounds', having({}), having({ minimum: -5 }), 'breaking', 'additive'],
  ['/a bounds', having({ minItems: 1 }), having({}), 'additive', 'breaking'],
  [
    '/a bounds',
    having({ minimum: 1, maximum: 9 }),
    having({ minimum: 2, maximum: 10 }),
    'breaking',
    'breaking',
  ],
  ['/a format', having(text), having({ ...text, format: 'uuid' }), 'breaking', 'additive'],
  ['/a format', having({ format: 'uuid' }), having({}), 'additive', 'breaking'],
  ['/a format', having({ format: 'uuid' }), having({ format: 'uri' }), 'breaking', 'breaking'],
  [' closed', none, closed, 'breaking', 'additive'],
  [' opened', closed, none, 'additive', 'additive'],
  ['/a/- types', having({ items: text }), having({ items: { type: 'null' } }), 'breaking', 'breaking'],
  ['/a/b added', having(none), having({ type: 'object', properties: { b: {} } }), 'additive', 'additive'],
])('%s: from %j to %j', (change, before, after, senders, readers) => {
  const differences = definitionDifferences(before, after)
  expect(differences.map(({ pointer, change }) => `${pointer} ${change}`)).toEqual([change])
  expect([verdictOf(differences, 'senders'), verdictOf(differences, 'readers')]).toEqual([senders, readers])
})

it('lists breaking differences first', () => {
  const before: DefinedValue = { type: 'object', properties: { a: none, b: text } }
  const after: DefinedValue = {
    type: 'object',
    properties: { a: having(text), b: { type: 'number' } },
  }
  expect(definitionDifferences(before, after).map(({ pointer }) => pointer)).toEqual(['/b', '/a/a'])
})

it('ignores bounds that exclude nothing, and fields of what is no object', () => {
  expect(definitionDifferences(having(text), having({ ...text, minLength: 0 }))).toEqual([])
  expect(definitionDifferences(having({ minItems: 0 }), having({}))).toEqual([])
  const closedText: DefinedValue = { type: 'string', additionalProperties: false }
  expect(definitionDifferences(having(text), having(closedText))).toEqual([])
})

it('ignores titles, descriptions and deprecations, and the order of lists', () => {
  const before = having({ ...text, enum: ['x', 'y'] })
  const after = having({ ...text, enum: ['y', 'x'], title: 'A', description: 'An a', deprecated: true })
  expect(definitionDifferences(before, after)).toEqual([])
  expect(verdictOf([], 'senders')).toBe('none')
})

it('lists breaking differences first, with names escaped in pointers', () => {
  const before: DefinedValue = { type: 'object', properties: { 'a/b~c': text } }
  const after: DefinedValue = { type: 'object', properties: { constructor: {}, 'a/b~c': { type: 'null' } } }
  expect(definitionDifferences(before, after).map(({ pointer, change }) => [pointer, change])).toEqual([
    ['/a~1b~0c', 'types'],
    ['/constructor', 'added'],
  ])
})

it('compares revisions by what they say, not by the order of fields', () => {
  const a = {
    description: '',
    variables: { type: 'object', properties: { a: text, b: text } } as DefinedValue,
  }
  const b = {
    description: '',
    variables: { properties: { b: text, a: text }, type: 'object' } as DefinedValue,
  }
  expect(isSameRevision(a, b)).toBe(true)
  expect(isSameRevision(a, { ...b, description: 'B' })).toBe(false)
  expect(isSameRevision(a, { ...b, variables: having(text) })).toBe(false)
})
