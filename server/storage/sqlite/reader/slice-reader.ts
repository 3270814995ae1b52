import { typeIdText } from '../../../domain/identifiers.ts'
import { hyphenated, readUuidDigits } from '../../../domain/message-ids.ts'
import type { ListedEvent } from '../../events/event-json.ts'
import { type EventSliceRequest, type Slice, SliceLines } from '../../exports/exports.ts'
import type { IndexReader } from '../index/index-reader.ts'
import type { Interval } from '../index/zone-map.ts'
import { wholeDigits } from '../kept-ids.ts'
import type { EventMatcher } from './event-matcher.ts'
import type { EventStatements, NamedCustomer, SuccessiveRow } from './event-statements.ts'
import { type ListPositions, LOOKED_AT, type ScannedEvent } from './list-positions.ts'

/**
 * Candidates of an export examined together; they are read in one go if they are at least a quarter of the events
 * there.
 */
const CHUNK = 500
const DENSE = 4

/** Maximum rows in memory at a time, each with at most 64 KiB. */
const READ_AT_ONCE = 100

/** Reads the slices of an export: all rows of an interval at once, if most of them are wanted. */
export class SliceReader {
  readonly #index: IndexReader
  readonly #statements: EventStatements
  readonly #matcher: EventMatcher
  readonly #positions: ListPositions
  /** The names that events of one slice refer to. Not kept longer, because a name or a reference may change. */
  #named = namesOfNone()

  constructor(parts: {
    index: IndexReader
    statements: EventStatements
    matcher: EventMatcher
    positions: ListPositions
  }) {
    this.#index = parts.index
    this.#statements = parts.statements
    this.#matcher = parts.matcher
    this.#positions = parts.positions
  }

  /** Returns the next events of an export, in the order of `oldest`. */
  read({ workspace_id, filter, after, bound, ...form }: EventSliceRequest): Slice {
    const lines = new SliceLines(form)
    const match = this.#matcher.match(workspace_id, filter)
    if (!match) return lines.ending(after, { isLast: true })
    const { refs, matches, sender } = match
    this.#named = namesOfNone()
    const first = this.#positions.firstAfter(after)
    let looked = 0
    let end = first
    let last: SuccessiveRow | undefined
    for (const { from, to } of [...this.#index.zoneMap.intervals(filter, bound)].reverse()) {
      if (to < first) continue
      const candidates = this.#index.candidatesForward(refs, { from: Math.max(from, first), to })
      for (const seqs of chunks(candidates, CHUNK)) {
        if (looked >= LOOKED_AT) {
          return lines.ending(this.#positions.oldestEnd({ seq: end }, last && placeOf(last)), {
            isLast: false,
          })
        }
        // Includes candidates that were removed since.
        const { intervals, count } = readTogether(seqs)
        for (const row of this.#rows(intervals)) {
          if (lines.isFull && last) return lines.ending(placeOf(last).position, { isLast: false })
          last = row
          const isFound = matches(row) && (sender === undefined || row.key_ref === sender)
          const event = isFound ? this.#listed(row) : undefined
          if (event) lines.addEvent(event)
        }
        looked += count
        end = seqs.at(-1) ?? end
      }
    }
    return lines.ending(last ? placeOf(last).position : after, { isLast: true })
  }

  *#rows(intervals: readonly Interval[]): Generator<SuccessiveRow> {
    for (const { from, to } of intervals) {
      for (let at = from; at <= to; at += READ_AT_ONCE) {
        yield* this.#statements.successive.all(at, Math.min(at + READ_AT_ONCE - 1, to))
      }
    }
  }

  /** Undefined if its customer or journey was removed, and the event will be removed next. */
  #listed(row: SuccessiveRow): ListedEvent | undefined {
    const { event_id, custom_variables, occurred_ms, received_ms } = row
    const { journeys, customers, keys } = this.#named
    const { journeyId, namedCustomer, keyId } = this.#statements
    const journey_id = remembered(journeys, row.journey_ref, journeyId)
    const customer = remembered(customers, row.customer_ref, namedCustomer)
    if (journey_id === undefined || customer === undefined) return undefined
    return {
      id: idText(row),
      journey_id,
      ...customer,
      event_id,
      custom_variables,
      occurred_ms,
      received_ms,
      message_id: messageText(row.message),
      key_id: row.key_ref === null ? null : (remembered(keys, row.key_ref, keyId) ?? null),
    }
  }
}

/**
 * Returns what to read for some events: if they are close together, everything in between, which takes half the time in
 * one go.
 * @param seqs consecutive candidates
 */
function readTogether(seqs: readonly number[]): { intervals: Interval[]; count: number } {
  const [from = 0] = seqs
  const to = seqs.at(-1) ?? from
  const count = to - from + 1
  if (count <= DENSE * seqs.length) return { intervals: [{ from, to }], count }
  return { intervals: seqs.map((seq) => ({ from: seq, to: seq })), count: seqs.length }
}

/** Splits the items of a generator into chunks. */
function* chunks<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = []
  for (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

const idBytes = new Uint8Array(16)

function idText({ id, received_ms }: SuccessiveRow): string {
  readUuidDigits(wholeDigits(id, received_ms), idBytes)
  return typeIdText('evt', idBytes)
}

/** @param message a `message_id` after a t, or the digits of a UUID after a u */
function messageText(message: string | null): string | null {
  if (message === null) return null
  return message.startsWith('t') ? message.slice(1) : hyphenated(message.slice(1).toLowerCase())
}

function placeOf(row: SuccessiveRow): Required<ScannedEvent> {
  return { seq: row.seq, position: { ms: row.received_ms, id: idText(row) } }
}

function namesOfNone() {
  return {
    journeys: new Map<number, string>(),
    customers: new Map<number, NamedCustomer>(),
    keys: new Map<number, string>(),
  }
}

/** Returns what a reference names; it is read once. */
function remembered<Named>(
  known: Map<number, Named>,
  ref: number,
  statement: { get(ref: number): Named | undefined },
): Named | undefined {
  const named = known.get(ref)
  if (named !== undefined) return named
  const read = statement.get(ref)
  if (read !== undefined) known.set(ref, read)
  return read
}
