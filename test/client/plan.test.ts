// engines: none (pure rules)

import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { changeText, planChanges, sendersVerdict } from '../../client/types/plan-changes.ts'
import { embeddedPlan, planText } from '../../client/types/plan-text.ts'
import type { DefinedValue } from '../../server/domain/event-definitions.ts'
import type { JourneyEvent } from '../../server/domain/journey-events.ts'

const head = { journey_id: 'jrn_1', digest: 'IOfNIwTak3Kn3x50rKEQr_fP8RJEU9oBW-7NZGk0zQM' }

function textOf(...events: JourneyEvent[]): string {
  return planText({ ...head, events })
}

/** An event with one field. */
function event(field: DefinedValue): JourneyEvent {
  return { event_id: 'chosen', description: '', variables: { type: 'object', properties: { plan: field } } }
}

/** The type of the field in the text. */
function typeOf(field: DefinedValue): string {
  const [, type = ''] = /^ {4}plan\?: (.*?)^ {2}\}$/ms.exec(textOf(event(field))) ?? []
  return type.trim().replace(/\s+/g, ' ')
}

describe('the types of a plan', () => {
  it('are declared by name in the order of the plan, with what is said as comments', () => {
    const variables: DefinedValue = {
      type: 'object',
      title: 'Plan chosen',
      deprecated: true,
      required: ['plan'],
      properties: {
        plan: { type: 'string', description: 'Its name\nin two lines' },
        'at once': { type: 'boolean' },
      },
    }
    const [, types] = /(\/\*\* The events.*?^\}$)/ms.exec(
      textOf(
        { event_id: 'plan_chosen', description: 'Somebody chose.', variables },
        { event_id: 'signed up' },
      ),
    ) as RegExpExecArray
    expect(types).toBe(`/** The events of the journey by name, with their variables. */
export interface Events {
  /**
   * Plan chosen
   *
   * Somebody chose.
   *
   * @deprecated
   */
  plan_chosen: {
    /**
     * Its name
     * in two lines
     */
    plan: string
    "at once"?: boolean
  }
  "signed up": { [name: string]: unknown } | string
}`)
  })

  it.each<[DefinedValue, string]>([
    [{}, 'unknown'],
    [{ type: 'string' }, 'string'],
    [{ type: ['integer', 'number'] }, 'number'],
    [{ type: ['boolean', 'null'] }, 'boolean | null'],
    [{ enum: ['a', 1, true, null] }, '"a" | 1 | true | null'],
    [{ type: 'array' }, 'Array<unknown>'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, 'Array<string | null>'],
    [{ type: 'object' }, '{ [name: string]: unknown }'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [
      { type: 'object', properties: { a: {} }, additionalProperties: true },
      '{ a?: unknown [name: string]: unknown }',
    ],
    [
      {
        type: ['null', 'object'],
        required: ['a'],
        properties: { a: { type: 'array', items: { type: 'object', properties: { b: {} } } } },
      },
      'null | { a: Array<{ b?: unknown }> }',
    ],
  ])('have %j as %s', (field, expected) => {
    expect(typeOf(field)).toBe(expected)
  })

  const odd = [
    '*/',
    '/*',
    '\\',
    "'",
    '"',
    '`',
    '\n',
    '\u2028',
    '🎉',
    '__proto__',
    'constructor',
    '2fa',
    '',
    'a-b',
    '// x',
    '@deprecated',
  ]

  it.each(odd)('are valid and can be read back with %j as name, field, value and description', (text) => {
    const variables: DefinedValue = {
      type: 'object',
      title: text,
      properties: { [text]: { enum: [text], description: text } },
    }
    const events = [{ event_id: text, description: text, variables: JSON.parse(JSON.stringify(variables)) }]
    const written = textOf(...events)
    const { diagnostics } = ts.transpileModule(written, { reportDiagnostics: true })
    expect(diagnostics).toEqual([])
    expect(embeddedPlan(written)).toEqual({ ...head, events })
    expect(embeddedPlan(written.replaceAll('\n', '\r\n'))).toEqual({ ...head, events })
    const source = ts.createSourceFile('cairn.d.ts', written, ts.ScriptTarget.ES2022)
    const declared = source.statements
      .find(ts.isInterfaceDeclaration)
      ?.members.map(({ name }) => (name as ts.Identifier).text)
    expect(declared).toEqual([text])
  })

  it('take any name if there is no event', () => {
    expect(textOf()).toContain(
      'export interface Events {\n  [event_id: string]: { [name: string]: unknown } | string\n}',
    )
  })
})

describe('the changes of a plan', () => {
  const free: JourneyEvent = { event_id: 'chosen' }
  const typed = event({ type: 'string' })

  it.each<[string, JourneyEvent[], JourneyEvent[], string[]]>([
    ['nothing', [typed], [typed], []],
    ['words only', [typed], [{ ...typed, description: 'Changed' }], []],
    ['a new event', [free], [free, { event_id: 'more' }], ['additive: "more" is a new event']],
    [
      'an event that is gone',
      [free, { event_id: 'more' }],
      [free],
      ['breaking: "more" is no longer in the plan'],
    ],
    [
      'a first event',
      [],
      [free],
      ['breaking: no other names are accepted now', 'additive: "chosen" is a new event'],
    ],
    ['no event any more', [free], [], ['additive: any name is accepted now']],
    ['a field', [typed], [event({ type: ['string', 'null'] })], ['additive: "chosen" /plan has other types']],
    [
      'a first definition',
      [free],
      [event({})],
      ['breaking: "chosen" has other types', 'additive: "chosen" /plan is a new field'],
    ],
  ])('list %s', (_what, before, after, expected) => {
    const changes = planChanges(before, after)
    expect(changes.map(changeText)).toEqual(expected)
    const verdict = expected.some((line) => line.startsWith('breaking'))
      ? 'breaking'
      : expected.length > 0
        ? 'additive'
        : 'none'
    expect(sendersVerdict(changes)).toBe(verdict)
  })
})
