import { setImmediate } from 'node:timers/promises'
import type { Key } from '../../../domain/journey-standing.ts'
import type { FollowedEvent, History } from '../../standings/standing-store.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf } from '../connection/uuids.ts'

/**
 * Number of events of a customer read at a time: few at first, because a caller that needs one event mostly finds it
 * among the first.
 */
const CHUNKS = { first: 64, growth: 8, greatest: 10_000 }

/** Maximum events read per statement. */
const READ_AT_ONCE = 65_536

type Ask = {
  customer: Key
  journey: Key
  /** After the event with this instant and key. */
  from: { at_ms: number; id: Key }
  to_ms: number
  limit: number
  resolve: (chunk: Chunk) => void
  reject: (error: unknown) => void
}

type LookedAt = { at_ms: number; id: Key; name: string | null }

/** Events of a customer by time; those of other journeys have no name. */
type Chunk = LookedAt[]

type Row = { ask: number; at_ms: number; id: string; name: string | null }

/**
 * The events of customers of one workspace by time. Requests of one iteration of the event loop are combined into one
 * statement: a page of customers costs one round trip instead of one per customer.
 */
export class CustomerHistory implements History {
  readonly customersAtOnce = READ_AT_ONCE / CHUNKS.first
  readonly #connection: Connection
  readonly #workspace: string
  #asks: Ask[] = []
  #isReading = false

  /** @param workspace as 32 digits */
  constructor(connection: Connection, workspace: string) {
    this.#connection = connection
    this.#workspace = workspace
  }

  async *events(
    journey: Key,
    customer: Key,
    range: { from_ms: number; to_ms: number },
  ): AsyncGenerator<readonly FollowedEvent[]> {
    let from = { at_ms: Math.max(range.from_ms, Number.MIN_SAFE_INTEGER) - 1, id: GREATEST_UUID }
    const to_ms = Math.min(range.to_ms, Number.MAX_SAFE_INTEGER)
    for (let limit = CHUNKS.first; ; limit = Math.min(limit * CHUNKS.growth, CHUNKS.greatest)) {
      const chunk = await this.#chunk({ journey, customer, from, to_ms, limit })
      const events = chunk.flatMap(({ name, at_ms, id }) =>
        name === null ? [] : { journey, customer, name, at_ms, id },
      )
      if (events.length > 0) yield events
      const last = chunk.at(-1)
      if (!last || chunk.length < limit) return
      from = last
    }
  }

  async rest(): Promise<void> {
    await setImmediate()
  }

  #chunk(ask: Omit<Ask, 'resolve' | 'reject'>): Promise<Chunk> {
    return new Promise((resolve, reject) => {
      this.#asks.push({ ...ask, resolve, reject })
      if (!this.#isReading) void this.#readAll()
    })
  }

  /** Reads until there are no more requests, one statement after the other on the connection. */
  async #readAll() {
    this.#isReading = true
    await setImmediate()
    while (this.#asks.length > 0) {
      const asks = this.#asksOfOneStatement()
      try {
        await this.#read(asks)
      } catch (error) {
        for (const { reject } of [...asks, ...this.#asks.splice(0)]) reject(error)
      }
      // A caller that got a chunk may request the next one.
      await setImmediate()
    }
    this.#isReading = false
  }

  #asksOfOneStatement(): Ask[] {
    let limits = 0
    const behind = this.#asks.findIndex(({ limit }, index) => {
      limits += limit
      return index > 0 && limits > READ_AT_ONCE
    })
    return this.#asks.splice(0, behind === -1 ? this.#asks.length : behind)
  }

  async #read(asks: readonly Ask[]) {
    const { rows } = await this.#connection.run<Row>(CHUNK, [
      this.#workspace,
      asks.map(({ customer }) => customer),
      asks.map(({ journey }) => journey),
      asks.map(({ from }) => from.at_ms),
      asks.map(({ from }) => from.id),
      asks.map(({ to_ms }) => to_ms),
      asks.map(({ limit }) => limit),
    ])
    const chunks: Chunk[] = asks.map(() => [])
    for (const { ask, id, ...row } of rows) chunks[ask - 1]?.push({ ...row, id: digitsOf(id) })
    for (const [index, { resolve }] of asks.entries()) resolve(chunks[index] ?? [])
  }
}

const GREATEST_UUID = 'f'.repeat(32)

/** Uses the index for each request, up to its limit, whatever the planner assumes about their number. */
const CHUNK = `
  SELECT ask::integer, found.at_ms, found.id,
    CASE WHEN found.journey_id = asked.journey_id THEN found.event_id END AS name
  FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::uuid[], $6::bigint[], $7::integer[])
    WITH ORDINALITY AS asked (customer_id, journey_id, at_ms, id, to_ms, most, ask)
  CROSS JOIN LATERAL (
    SELECT events.at_ms, events.id, events.journey_id, events.event_id FROM events
    WHERE workspace_id = $1 AND events.customer_id = asked.customer_id
      AND (events.at_ms, events.id) > (asked.at_ms, asked.id) AND events.at_ms < asked.to_ms
    ORDER BY events.at_ms, events.id LIMIT asked.most
  ) AS found
  ORDER BY ask, found.at_ms, found.id`
