import { createHash } from 'node:crypto'
import type { Schemas } from '../../../client/index.ts'
import { instant_ms, instantText } from '../../domain/instants.ts'
import { parseJson } from '../../domain/json.ts'
import { isJsonObject, type JsonValue } from '../../domain/json-text.ts'
import { type Fault, Problem, type ProblemCode } from '../../problems.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { LINE_BYTES, type Line } from '../lines.ts'
import { Occurrences } from './occurrences.ts'

type JsonObject = { [name: string]: JsonValue | undefined }

/** Why a line was refused: a code of the contract, or one that exists only for files. */
export type Refusal = {
  code: ProblemCode | 'line_too_long' | 'not_an_object' | 'ambiguous_line' | 'customer_name_required'
  detail: string
}

/** A customer by the caller's own identifiers. The server validates them. */
export type OwnCustomer = Pick<
  Schemas['CustomerInitialization'],
  'journey_id' | 'customer_type' | 'client_customer_id'
> & {
  customer_name?: string
}

/** A parsed line. */
export type LineRecord =
  | { kind: 'customer'; line: Line; customer: OwnCustomer }
  | { kind: 'event'; line: Line; event: Schemas['EventCreation']; customer: OwnCustomer | undefined }
  | { kind: 'refused'; line: Line; refusal: Refusal }

/** Fields that only events have. */
const EVENT_FIELDS = ['customer_id', 'custom_variables', 'occurred_at', 'message_id']

/** Fields that identify a customer by the caller's own identifiers. */
const OWN_FIELDS = ['client_customer_id', 'customer_type', 'customer_name']

/**
 * Reads lines in order. For a line of a file of refused lines it takes the `line` in it. Events go to the server
 * unchanged, because only the server checks them against the contract.
 *
 * An event without a `message_id` gets an idempotency key that is the same whenever the file is read: a digest of its
 * journey, customer, name, time and variables, plus the number of identical lines before it. Events stored in an
 * earlier run are thus recognized, even if the file was moved, was rewritten with its fields in another order, or has
 * grown at its end; and two identical lines are two events.
 */
export class LineReader {
  readonly #journeyId: string | undefined
  readonly #occurrences = new Occurrences()
  #hasNamedJourney = false

  /** @param options.journeyId the journey for lines without one */
  constructor({ journeyId }: { journeyId: string | undefined }) {
    this.#journeyId = journeyId
  }

  /** @throws {CommandFailure} if a line has no journey and none before it had one: the option is missing */
  read(line: Line): LineRecord {
    const refused = (code: Refusal['code'], detail: string): LineRecord => {
      return { kind: 'refused', line, refusal: { code, detail } }
    }
    if (!line.bytes) return refused('line_too_long', `A line may have at most ${LINE_BYTES} bytes.`)
    let value: JsonValue
    try {
      value = parseJson(line.bytes)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return refused(error.code, faultsText(error.faults) || error.detail)
    }
    value = unwrapped(value)
    if (!isJsonObject(value)) return refused('not_an_object', 'A line must be a JSON object.')
    const fields: JsonObject = {
      ...(this.#journeyId !== undefined && { journey_id: this.#journeyId }),
      ...value,
    }
    const own = OWN_FIELDS.filter((name) => name in value)
    const ofEvents = EVENT_FIELDS.filter((name) => name in value)
    if (!('event_id' in value) && own.length === 0) {
      return refused('ambiguous_line', 'The line has neither event_id nor client_customer_id.')
    }
    if (!('journey_id' in fields)) {
      if (!this.#hasNamedJourney) throw journeyMissing(line)
      return refused('invalid_request', 'journey_id: is required; --journey sets it for lines without one.')
    }
    this.#hasNamedJourney = true
    if (!('event_id' in value)) {
      if (ofEvents.length === 0) return { kind: 'customer', line, customer: customerOf(fields) }
      return refused('ambiguous_line', `The line has ${ofEvents.join(', ')} like an event, but no event_id.`)
    }
    if (own.length === 0)
      return { kind: 'event', line, event: this.#event(fields, line), customer: undefined }
    if ('customer_id' in value) {
      return refused(
        'ambiguous_line',
        `The line identifies the customer twice: by customer_id and by ${own.join(', ')}.`,
      )
    }
    const { client_customer_id, customer_type, customer_name, ...event } = fields
    const names = { client_customer_id, customer_type, journey_id: event.journey_id }
    const customer = customerOf(customer_name === undefined ? names : { ...names, customer_name })
    return { kind: 'event', line, event: this.#event(event, line, names), customer }
  }

  #event(fields: JsonObject, line: Line, names?: object): Schemas['EventCreation'] {
    const event = eventOf(fields)
    if ('message_id' in fields) return event
    const { journey_id, customer_id = names, event_id, occurred_at, custom_variables } = event
    const content = canonicalText([
      journey_id,
      customer_id as JsonValue | undefined,
      event_id,
      instantOf(occurred_at),
      custom_variables as JsonValue | undefined,
    ])
    const digest = createHash('sha256').update(content).digest()
    // If the table is full, use the line number: it is stable too as long as the file only grows.
    const occurrence = this.#occurrences.next(digest) ?? `line-${line.number}`
    return { ...event, message_id: `import:${digest.toString('base64url')}:${occurrence}` }
  }
}

/**
 * Normalizes an instant, whatever its offset and digits, as the server compares it; returns anything else unchanged.
 */
function instantOf(occurred_at: unknown): JsonValue | undefined {
  const ms = typeof occurred_at === 'string' ? instant_ms(occurred_at) : Number.NaN
  return Number.isNaN(ms) ? (occurred_at as JsonValue | undefined) : instantText(ms)
}

/** Returns equal text for equal values: the JSON Canonicalization Scheme (RFC 8785). An absent value is null. */
function canonicalText(value: JsonValue | undefined | (JsonValue | undefined)[]): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`
}

function journeyMissing({ number }: Line): CommandFailure {
  const advice = 'Use --journey JOURNEY_ID to set it for lines without one.'
  return new CommandFailure(`line ${number} has no journey_id. ${advice}`, ExitCode.usage)
}

/** Returns the original line from a line of a file of refused lines; any other line unchanged. */
export function unwrapped(value: JsonValue): JsonValue {
  return isJsonObject(value) && 'line_number' in value ? (value.line ?? null) : value
}

/** The line as an event to send. The server validates it and names each fault. */
function eventOf(fields: JsonObject): Schemas['EventCreation'] {
  return fields as Schemas['EventCreation']
}

function customerOf(fields: JsonObject): OwnCustomer {
  return fields as OwnCustomer
}

/** Describes faults by field, for example `event_id: is required`. */
export function faultsText(faults: readonly Fault[]): string {
  const texts = faults.map(({ detail, pointer = '' }) => {
    const place = pointer.replace(/^\//, '')
    return place === '' ? detail : `${place}: ${detail}`
  })
  return texts.join('; ')
}
