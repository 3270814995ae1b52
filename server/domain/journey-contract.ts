import { hash } from 'node:crypto'
import type { DefinedValue } from './event-definitions.ts'
import { type DefinedEvent, type JourneyEvent, journeyEvents } from './journey-events.ts'

/** The parts of a journey that its contract shows. */
export type DescribedJourney = {
  journey_id: string
  name: string
  description: string
  steps: readonly { event_id: string }[]
}

type Json = { readonly [name: string]: unknown }

/** The parsed contract of the server. */
type WholeContract = {
  openapi?: string
  info?: Json
  servers: unknown
  paths: Readonly<Record<string, Json>>
  components: object
}

/** An OpenAPI document in two parts, because the schemas of events can be many and are written one by one. */
export type JourneyContract = {
  /** Everything but the schemas of single events; `components.schemas` is last. */
  head: Json & { info: Json }
  /** Yields the schemas of events with the names of their components, in the order of `event_id`. */
  events: () => Iterable<[name: string, schema: Json]>
}

/** The operations of ingestion. */
const PATHS = ['/customers/initialize', '/events/create', '/events/batch']

/** Maximum length of what a component's name takes from that of its event. */
const MOST_NAME_LENGTH = 60

/**
 * Returns the contract of the server's ingestion for one journey, in which `journey_id` is constant and each event has its
 * name and variables typed: those of its steps and those that the workspace has defined. It has what the three operations
 * refer to, and nothing else.
 */
export function journeyContract(
  whole: WholeContract,
  journey: DescribedJourney,
  definitions: readonly DefinedEvent[],
): JourneyContract {
  const events = journeyEvents(journey.steps, definitions)
  const components = whole.components as Components
  const { schemas = {} } = components
  const creation = schemas.EventCreation as EventCreation
  const reserved = new Set(Object.keys(schemas))
  const names = events.map(({ event_id }) => componentName(event_id, reserved))
  const { custom_variables, event_id: _, ...shared } = creation.properties
  const isAnyFree = events.some(({ variables }) => !variables)
  const ofAnyEvent = { ...shared, journey_id: JOURNEY_ID, ...(isAnyFree && { custom_variables }) }
  const named = {
    ...schemas,
    // Nothing that constrains may stand beside the oneOf: openapi-typescript would no longer narrow it.
    EventCreation:
      names.length > 0
        ? {
            title: creation.title,
            description: creation.description,
            oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })),
          }
        : withProperties(creation, { journey_id: JOURNEY_ID }),
    CustomerInitialization: withProperties(schemas.CustomerInitialization as ObjectSchema, {
      journey_id: JOURNEY_ID,
    }),
    JourneyId: { ...schemas.JourneyId, const: journey.journey_id },
    CustomVariables: openObjects(schemas.CustomVariables as DefinedValue),
  }
  const paths = Object.fromEntries(PATHS.map((path) => [path, taken(whole.paths[path])]))
  const head = {
    openapi: whole.openapi,
    info: {
      ...whole.info,
      title: `Cairn: ${journey.name}`,
      summary: 'Ingestion of one journey, with its events.',
      description: journey.description || 'Registers the customers of one journey and ingests their events.',
    },
    servers: whole.servers,
    tags: [{ name: 'Ingestion', description: 'The operations that your application calls while it runs.' }],
    paths,
    components: referredTo({ ...components, schemas: named }, [paths, ofAnyEvent]),
  }
  return {
    head,
    *events() {
      for (const [index, event] of events.entries()) yield [names[index] ?? '', eventSchema(creation, event)]
    },
  }
}

const JOURNEY_ID = { $ref: '#/components/schemas/JourneyId' }

type Components = Readonly<Record<string, Readonly<Record<string, Json>>>>
type ObjectSchema = Json & { properties: Json; required: readonly string[] }
type EventCreation = ObjectSchema & { title: string; description: string }

function eventSchema(creation: EventCreation, { event_id, description, variables }: JourneyEvent): Json {
  const { title, deprecated, ...typed } = variables ?? {}
  const said = [title, description].filter(Boolean).join('\n\n')
  // Absent variables are an empty object.
  const isRequired = (typed.required ?? []).length > 0
  const schema = withProperties(creation, {
    journey_id: JOURNEY_ID,
    event_id: { type: 'string', const: event_id },
    ...(variables && { custom_variables: openObjects(typed) }),
  })
  return {
    ...schema,
    title: event_id,
    description: said || `The event ${JSON.stringify(event_id)}.`,
    ...(deprecated && { deprecated }),
    ...(isRequired && { required: [...creation.required, 'custom_variables'] }),
  }
}

function withProperties(schema: ObjectSchema, properties: Json): ObjectSchema {
  return { ...schema, properties: { ...schema.properties, ...properties } }
}

/** Says of each object without properties that it may have any: some generators take it for an empty one otherwise. */
function openObjects(value: DefinedValue): DefinedValue {
  const { properties, items, type } = value
  const isOpen =
    type !== undefined && [type].flat().includes('object') && Object.keys(properties ?? {}).length === 0
  const inner = Object.entries(properties ?? {}).map(([name, one]) => [name, openObjects(one)])
  return {
    ...value,
    ...(properties && { properties: Object.fromEntries(inner) }),
    ...(items && { items: openObjects(items) }),
    ...(isOpen && value.additionalProperties === undefined && { additionalProperties: true }),
  }
}

/**
 * Returns the name of the event's component, for example `PlanChosenEvent`. It depends on the event's own name alone, so
 * that it stays the same whatever else is defined. If the name loses anything by that, a digest is added.
 */
function componentName(eventId: string, reserved: ReadonlySet<string>): string {
  const words = eventId.match(/[A-Za-z][A-Za-z0-9]*/g) ?? []
  const name = `${words
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')
    .slice(0, MOST_NAME_LENGTH)}Event`
  const isWhole = /^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$/.test(eventId) && eventId.length <= MOST_NAME_LENGTH
  if (isWhole && !reserved.has(name)) return name
  return `${name}_${hash('sha256', eventId).slice(0, 12)}`
}

/** Returns the components that `roots` and these components themselves refer to, schemas last. */
function referredTo({ schemas = {}, ...others }: Components, roots: unknown): Json {
  const found = new Map<string, unknown>()
  const look = (reference: string) => {
    const [, , kind = '', name = ''] = reference.split('/')
    const component = taken((kind === 'schemas' ? schemas : others[kind])?.[name])
    if (found.has(reference)) return
    found.set(reference, component)
    visit(component)
  }
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref') look(String(inner))
      else if (key === 'security')
        for (const name of (inner as Json[]).flatMap(Object.keys))
          look(`#/components/securitySchemes/${name}`)
      else visit(inner)
    }
  }
  visit(roots)
  const kinds = Object.entries({ ...others, schemas }).map(([kind, named]) => {
    const kept = Object.keys(named).filter((name) => found.has(`#/components/${kind}/${name}`))
    return [
      kind,
      Object.fromEntries(kept.map((name) => [name, found.get(`#/components/${kind}/${name}`)])),
    ] as const
  })
  return Object.fromEntries(
    kinds.filter(([kind, named]) => kind === 'schemas' || Object.keys(named).length > 0),
  )
}

/**
 * Returns a copy without examples, which show other journeys and events, and without our own extensions; links to the
 * manual lead to that of the server.
 */
function taken(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('](#tag/', '](/docs/#tag/')
  if (Array.isArray(value)) return value.map(taken)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'examples' && !name.startsWith('x-'))
  return Object.fromEntries(entries.map(([name, inner]) => [name, taken(inner)]))
}
