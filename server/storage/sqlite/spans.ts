import type { Connection } from './connection.ts'
import type { Journey } from './references.ts'

/**
 * A span is this many successive numbers of events. What a list looks for is noted for the span, not for each event:
 * that costs next to nothing to write, and a page of a list reads a few spans.
 */
export const SPAN_EVENTS = 1024

/**
 * The timelines of customers are kept in blocks of this many successive numbers: the entries that arrive together then
 * lie on few pages, and a page of a timeline reads the end of each block.
 */
export const BLOCK_EVENTS = 2 ** 20

/** What a list can be narrowed to with the help of `event_facets`. */
export const facets = {
  workspace: '',
  journey: (journey_id: string) => `journey ${journey_id}`,
  event: (event_id: string) => `event ${event_id}`,
}

type Span = { span: number; first_id: Uint8Array; least_ms: number; greatest_ms: number }

/** Notes what the spans hold while their events are written. */
export class SpanWriter {
  readonly #statements: ReturnType<typeof prepare>
  /** The span that is being filled, as far as it is not written yet. */
  #span: Span | undefined
  /** What the latest span is known to hold: names of events, by their journey. */
  readonly #noted = new Map<Journey, Set<string>>()
  #notedSpan = -1

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  add(seq: number, id: Uint8Array, received_ms: number, journey: Journey, event_id: string): void {
    const span = Math.floor(seq / SPAN_EVENTS)
    if (this.#span?.span !== span) {
      this.write()
      this.#span = { span, first_id: id, least_ms: received_ms, greatest_ms: received_ms }
    }
    if (this.#notedSpan !== span) {
      this.#noted.clear()
      this.#notedSpan = span
    }
    const names = this.#noted.get(journey)
    if (names?.has(event_id)) return
    const { workspace_ref, journey_id } = journey
    if (!names) {
      this.#statements.facet.run(workspace_ref, facets.workspace, span)
      this.#statements.facet.run(workspace_ref, facets.journey(journey_id), span)
    }
    this.#statements.facet.run(workspace_ref, facets.event(event_id), span)
    // A copy: the text may be a part of the group's, which it would keep in memory.
    const copy = Buffer.from(event_id).toString()
    this.#noted.set(journey, names?.add(copy) ?? new Set([copy]))
  }

  /** Writes what `add` has put off. */
  write(): void {
    if (!this.#span) return
    const { span, first_id, least_ms, greatest_ms } = this.#span
    this.#statements.span.run(span, first_id, least_ms, greatest_ms)
    this.#span = undefined
  }

  /** Forgets what was not committed. */
  forget(): void {
    this.#span = undefined
    this.#noted.clear()
  }
}

function prepare(connection: Connection) {
  return {
    span: connection.prepare<[number, Uint8Array, number, number]>(
      `INSERT INTO event_spans VALUES (?, ?, ?, ?) ON CONFLICT (span) DO UPDATE SET
        least_received_ms = min(least_received_ms, excluded.least_received_ms),
        greatest_received_ms = max(greatest_received_ms, excluded.greatest_received_ms)`,
    ),
    facet: connection.prepare<[number, string, number]>(
      'INSERT INTO event_facets VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
  }
}
