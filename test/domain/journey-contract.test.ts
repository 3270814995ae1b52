// engines: none (pure rules)

import { load } from 'js-yaml'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { journeyContract } from '../../server/domain/journey-contract.ts'
import type { DefinedEvent } from '../../server/domain/journey-events.ts'
import { journeyContractFile } from '../../server/http/answers/journey-contract-file.ts'
import type { ContractDocument } from '../../server/http/checks/contract-document.ts'
import { contractDocument } from '../fixtures/contract/document.ts'

const journey = {
  journey_id: 'jrn_01jd3zc4s7e9qv6x0m2n5b8wtr',
  name: 'Onboarding',
  description: '',
  steps: [{ event_id: 'signed_up' }, { event_id: 'plan_chosen' }],
}

const planChosen: DefinedEvent = {
  event_id: 'plan_chosen',
  description: 'Somebody chose a plan.',
  variables: {
    type: 'object',
    title: 'Plan chosen',
    required: ['plan'],
    properties: {
      plan: { type: 'string', enum: ['free', 'team'], description: 'The new plan' },
      seats: { type: ['integer', 'null'], minimum: 1 },
      cart: {
        type: 'array',
        items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
      },
      meta: { type: 'object' },
      coupon: { type: 'string', deprecated: true },
    },
  },
}

function defined(event_id: string): DefinedEvent {
  return { event_id, description: '', variables: { type: 'object' } }
}

type Schema = { title?: string; properties: Record<string, { const?: string }>; oneOf?: { $ref: string }[] }
type Parsed = {
  info: { title: string; 'x-digest': string }
  paths: object
  components: Record<string, Record<string, Schema>>
}

async function textOf(definitions: DefinedEvent[], of = journey): Promise<string> {
  const contract = journeyContract(contractDocument() as ContractDocument, of, definitions)
  const { parts } = await journeyContractFile(contract, of.journey_id)
  const chunks: Uint8Array[] = []
  for await (const part of parts) chunks.push(part)
  return Buffer.concat(chunks).toString()
}

async function contractOf(definitions: DefinedEvent[], of = journey): Promise<Parsed> {
  return load(await textOf(definitions, of)) as Parsed
}

/** The components of the events, by name, and the names of the events. */
async function namesOf(definitions: DefinedEvent[]): Promise<[string, string][]> {
  const { components } = await contractOf(definitions, { ...journey, steps: [] })
  const schemas = components.schemas ?? {}
  return (schemas.EventCreation?.oneOf ?? []).map((one) => {
    const name = one.$ref.replace('#/components/schemas/', '')
    return [name, schemas[name]?.properties.event_id?.const ?? '']
  })
}

/** Returns what the compiler has to say about a module. */
function problemsOf(source: string): string[] {
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, types: [] }
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile
  host.getSourceFile = (name, ...rest) =>
    name === 'event.ts' ? ts.createSourceFile(name, source, options.target) : read(name, ...rest)
  const program = ts.createProgram(['event.ts'], options, host)
  const problems = ts.getPreEmitDiagnostics(program)
  return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

describe('the contract of a journey', () => {
  it('has the ingestion operations and only what they refer to', async () => {
    const { paths, components } = await contractOf([planChosen])
    expect(Object.keys(paths)).toEqual(['/customers/initialize', '/events/create', '/events/batch'])
    const text = JSON.stringify([paths, components])
    const referred = new Set([...text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, name]) => name))
    const has = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `${kind}/${name}`),
    )
    expect(has.filter((name) => !name.startsWith('securitySchemes/')).sort()).toEqual([...referred].sort())
    expect(Object.keys(components.securitySchemes ?? {})).toEqual(['PublishableKey', 'SecretKey'])
    expect(text).not.toContain('examples')
  })

  it('narrows the union of events by event_id, in types of openapi-typescript without options', async () => {
    const types = astToString(await openapiTypescript(await textOf([planChosen])))
    const common = `journey_id: '${journey.journey_id}', customer_id: 'cus_1'`
    const variables = `plan: 'team', seats: null, cart: [{ sku: 'a' }], meta: { any: 1 }`
    const source = `${types}
      const put = (event: components['schemas']['EventCreation']) => event
      put({ ${common}, event_id: 'plan_chosen', custom_variables: { ${variables} } })
      put({ ${common}, event_id: 'signed_up' })
      put({ ${common}, event_id: 'signed_up', custom_variables: { what: 'ever' } })
      // @ts-expect-error: a misspelt name
      put({ ${common}, event_id: 'plan_choosen', custom_variables: { plan: 'team' } })
      // @ts-expect-error: a field that is not defined
      put({ ${common}, event_id: 'plan_chosen', custom_variables: { plan: 'team', seat: 1 } })
      // @ts-expect-error: a value that is not defined
      put({ ${common}, event_id: 'plan_chosen', custom_variables: { plan: 'gold' } })
      // @ts-expect-error: a missing field
      put({ ${common}, event_id: 'plan_chosen', custom_variables: { seats: 1 } })
      // @ts-expect-error: without its variables
      put({ ${common}, event_id: 'plan_chosen' })
      // @ts-expect-error: another journey
      put({ journey_id: 'jrn_other', customer_id: 'cus_1', event_id: 'signed_up' })`
    expect(problemsOf(source)).toEqual([])
    expect(types).toContain('@description The new plan')
    expect(types).toContain('@deprecated')
    expect(types).toContain('Somebody chose a plan.')
  })

  it('says of an object without properties that it has any, unless the definition says that it has none', async () => {
    const variables: DefinedEvent['variables'] = {
      type: 'object',
      properties: { any: { type: 'object' }, none: { type: 'object', additionalProperties: false } },
    }
    const { components } = await contractOf([{ ...planChosen, variables }])
    const { custom_variables } = components.schemas?.PlanChosenEvent?.properties ?? {}
    expect(custom_variables).toMatchObject({
      properties: { any: { additionalProperties: true }, none: { additionalProperties: false } },
    })
  })

  it('takes any name if there is no event', async () => {
    const { components } = await contractOf([], { ...journey, steps: [] })
    expect(components.schemas?.EventCreation?.oneOf).toBeUndefined()
    expect(components.schemas?.EventCreation?.properties.event_id).toMatchObject({
      $ref: '#/components/schemas/Name',
    })
    expect(components.schemas?.JourneyId).toMatchObject({ const: journey.journey_id })
  })

  it('has events in the order of code points, whatever the order of definitions and steps', async () => {
    const names = ['b', 'B', 'a', '\u{1F389}', '\uFF5E', 'ä']
    const expected = ['B', 'a', 'b', 'ä', '\uFF5E', '\u{1F389}']
    expect((await namesOf(names.map((name) => defined(name)))).map(([, name]) => name)).toEqual(expected)
    const text = await textOf(names.map((name) => defined(name)))
    expect(
      await textOf(
        names.reverse().map((name) => defined(name)),
        { ...journey, steps: journey.steps.toReversed() },
      ),
    ).toBe(text)
  })

  it('gives each event a component with a valid name of its own, which other events do not change', async () => {
    const odd = [
      'plan_chosen',
      'Plan chosen',
      'plan-chosen',
      'planChosen',
      'plan_2',
      'plan2',
      '🎉',
      '🎊',
      'größe',
      '中文',
    ]
    const more = [
      'created',
      'Event',
      '__proto__',
      'constructor',
      '2fa',
      'x'.repeat(255),
      'a\nb: c',
      '',
      ' ',
      '"',
    ]
    const names = await namesOf([...odd, ...more].map((name) => defined(name)))
    expect(new Set(names.map(([name]) => name.toLowerCase())).size).toBe(odd.length + more.length)
    for (const [name] of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9_]{0,80}$/)
    expect(names).toContainEqual(['PlanChosenEvent', 'plan_chosen'])
    for (const [name, event] of names) expect(await namesOf([defined(event)])).toEqual([[name, event]])
  })

  it.each([
    'on',
    '1:20',
    '2026-01-01',
    '~',
    '0x1F',
    '# no comment',
    '- a',
    '*a',
    '"',
    "'",
    'a: b',
    '\t',
    ' a\n\n  b ',
    '%',
  ])('can be read back with %j as name, description and field', async (odd) => {
    const { components } = await contractOf(
      [
        {
          event_id: odd,
          description: odd,
          variables: { type: 'object', properties: { [odd]: { enum: [odd] } } },
        },
      ],
      { ...journey, steps: [] },
    )
    const [event] = Object.values(components.schemas ?? {}).filter(({ title }) => title === odd)
    expect(event).toMatchObject({
      description: odd,
      properties: { event_id: { const: odd }, custom_variables: { properties: { [odd]: { enum: [odd] } } } },
    })
  })

  it('has a digest of everything in it', async () => {
    const digest = async (...of: Parameters<typeof contractOf>) => (await contractOf(...of)).info['x-digest']
    const first = await digest([planChosen])
    expect(await digest([planChosen])).toBe(first)
    expect(await digest([planChosen], { ...journey, name: 'Renewal' })).not.toBe(first)
    expect(await digest([{ ...planChosen, description: 'Changed' }])).not.toBe(first)
    expect(await digest([planChosen, defined('more')])).not.toBe(first)
  })
})
