import { createHash } from 'node:crypto'
import type { Schemas } from '../../../client/index.ts'
import { instant_ms, instantText } from '../../domain/instants.ts'
import { type JsonValue, parseJson } from '../../domain/json.ts'
import { type Fault, Problem, type ProblemCode } from '../../problems.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { LINE_BYTES, type Line } from './lines.ts'
import { Occurrences } from './occurrences.ts'

type JsonObject = { [name: string]: JsonValue | undefined }

/** Why a line was not taken: a code of the contract, or one that only a file can have. */
export type Refusal = {
  code: ProblemCode | 'line_too_long' | 'not_an_object' | 'ambiguous_line' | 'customer_name_required'
  detail: string
}

/** A customer by the caller's own identifiers. The server judges whether they are well formed. */
export type OwnCustomer = Pick<
  Schemas['CustomerInitialization'],
  'journey_id' | 'customer_type' | 'client_customer_id'
> & {
  customer_name?: string
}

/** What a line says. */
export type LineRecord =
  | { kind: 'customer'; line: Line; customer: OwnCustomer }
  | { kind: 'event'; line: Line; event: Schemas['EventCreation']; customer: OwnCustomer | undefined }
  | { kind: 'refused'; line: Line; refusal: Refusal }

/** Fields that only an event has. */
const EVENT_FIELDS = ['customer_id', 'custom_variables', 'occurred_at', 'message_id']

/** Fields that name a customer by the caller's own identifiers. */
const OWN_FIELDS = ['client_customer_id', 'customer_type', 'customer_name']

/**
 * Reads lines in their order, also those of a file of refused lines, of which it takes the `line`. What a line says about its event goes to the server as it stands: the contract is checked
 * there alone.
 *
 * An event without a `message_id` gets one that is the same whenever the file is read: a digest of its journey,
 * customer, name, time and variables, and how many lines said the same before. So what was stored in an earlier run is
 * recognised, also when the file was moved, was written again with its names in another order, or has grown at its end, and
 * two lines that say the same are two events.
 */
export class LineReader {
  readonly #journeyId: string | undefined
  readonly #occurrences = new Occurrences()
  #hasNamedJourney = false

  /** @param options.journeyId for lines without a journey of their own */
  constructor({ journeyId }: { journeyId: string | undefined }) {
    this.#journeyId = journeyId
  }

  /** @throws {CommandFailure} where lines need a journey and none so far has named its own: the option is missing */
  read(line: Line): LineRecord {
    const refused = (code: Refusal['code'], detail: string): LineRecord => {
      return { kind: 'refused', line, refusal: { code, detail } }
    }
    if (!line.bytes) return refused('line_too_long', `A line may have ${LINE_BYTES} bytes at the most.`)
    let value: JsonValue
    try {
      value = parseJson(line.bytes)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return refused(error.code, faultsText(error.faults) || error.detail)
    }
    value = unwrapped(value)
    if (!isObject(value)) return refused('not_an_object', 'A line must be a JSON object.')
    const fields: JsonObject = {
      ...(this.#journeyId !== undefined && { journey_id: this.#journeyId }),
      ...value,
    }
    const own = OWN_FIELDS.filter((name) => name in value)
    const ofEvents = EVENT_FIELDS.filter((name) => name in value)
    if (!('event_id' in value) && own.length === 0) {
      return refused('ambiguous_line', 'Has neither event_id nor client_customer_id.')
    }
    if (!('journey_id' in fields)) {
      if (!this.#hasNamedJourney) throw journeyMissing(line)
      return refused('invalid_request', 'journey_id: is required; --journey gives one to lines without.')
    }
    this.#hasNamedJourney = true
    if (!('event_id' in value)) {
      if (ofEvents.length === 0) return { kind: 'customer', line, customer: customerOf(fields) }
      return refused('ambiguous_line', `Has ${ofEvents.join(', ')} like an event, but no event_id.`)
    }
    if (own.length === 0)
      return { kind: 'event', line, event: this.#event(fields, line), customer: undefined }
    if ('customer_id' in value) {
      return refused('ambiguous_line', `Names the customer twice: by customer_id and by ${own.join(', ')}.`)
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
    // Beyond what can be counted the number of the line serves: it stays the same too while the file only grows.
    const occurrence = this.#occurrences.next(digest) ?? `line-${line.number}`
    return { ...event, message_id: `import:${digest.toString('base64url')}:${occurrence}` }
  }
}

/** An instant in one form, whatever its offset and digits, as the server compares it; anything else as it is. */
function instantOf(occurred_at: unknown): JsonValue | undefined {
  const ms = typeof occurred_at === 'string' ? instant_ms(occurred_at) : Number.NaN
  return Number.isNaN(ms) ? (occurred_at as JsonValue | undefined) : instantText(ms)
}

/** JSON text that is the same for equal values: RFC 8785, the JSON Canonicalization Scheme. What is absent is null. */
function canonicalText(value: JsonValue | undefined | (JsonValue | undefined)[]): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`
}

function journeyMissing({ number }: Line): CommandFailure {
  const advice = 'Say with --journey JOURNEY_ID which one is that of lines without a journey_id.'
  return new CommandFailure(`line ${number} names no journey. ${advice}`, ExitCode.usage)
}

/** What a line of a file of refused lines is about; any other line as it is. */
export function unwrapped(value: JsonValue): JsonValue {
  return isObject(value) && 'line_number' in value ? (value.line ?? null) : value
}

function isObject(value: JsonValue): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The line as an event to send. Its form is the server's to judge, which names each fault. */
function eventOf(fields: JsonObject): Schemas['EventCreation'] {
  return fields as Schemas['EventCreation']
}

function customerOf(fields: JsonObject): OwnCustomer {
  return fields as OwnCustomer
}

/** Faults in a line's words: `event_id: is required`. */
export function faultsText(faults: readonly Fault[]): string {
  const texts = faults.map(({ detail, pointer = '' }) => {
    const place = pointer.replace(/^\//, '')
    return place === '' ? detail : `${place}: ${detail}`
  })
  return texts.join('; ')
}
