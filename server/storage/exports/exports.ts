import type { components } from '../../../generated/contract.ts'
import type { Position } from '../../domain/cursors.ts'
import { COLUMNS, csvLine, type ExportFormat } from '../../domain/export-formats.ts'
import { instantText } from '../../domain/instants.ts'
import type { EventFilter } from '../events/event-filter.ts'
import { eventText, type ListedEvent } from '../events/event-json.ts'

type Customer = components['schemas']['Customer']

/** A slice has so many bytes, or a little more: it is read in some milliseconds, and held once for each export. */
export const SLICE_BYTES = 512 * 1024

/** Where a walk forward ends that has begun at an instant. */
export type WalkBound = {
  /** As the engine numbers places in the order of arrival. */
  place: number
  /** What was acknowledged by then is before the place. */
  caughtUp_ms: number
}

/** What of the events a slice is to have: those behind a position and before a bound, so many at the most. */
export type EventSliceRequest = {
  workspace_id: string
  filter: EventFilter
  after: Position
  bound: number
  most: number
  format: SliceFormat
}

/** How rows are written: as lines of an export, or as items of a JSON array, each behind a comma. */
export type SliceFormat = ExportFormat | 'items'

/** Successive rows of an export. */
export type Slice = {
  /** The lines, with memory of their own. */
  bytes: Uint8Array<ArrayBuffer>
  lines: number
  /** Behind it the next slice begins. */
  next: Position
  /** Whether nothing is left before the bound. */
  isLast: boolean
}

/** The lines of a slice as its rows are found. */
export class SliceLines {
  readonly #most: number
  readonly #format: SliceFormat
  #text = ''
  #lines = 0

  constructor({ most, format }: { most: number; format: SliceFormat }) {
    this.#most = most
    this.#format = format
  }

  /** Whether no further row belongs to it. */
  get isFull(): boolean {
    return this.#lines >= this.#most || this.#text.length >= SLICE_BYTES
  }

  addEvent(event: ListedEvent): void {
    if (this.#format === 'csv') this.#add(csvLine(eventCells(event)))
    else this.#addJson(eventText(event))
  }

  addCustomer(customer: Customer): void {
    if (this.#format === 'csv') this.#add(csvLine(COLUMNS.customers.map((name) => customer[name])))
    else this.#addJson(JSON.stringify(customer))
  }

  #addJson(text: string) {
    this.#add(this.#format === 'items' ? itemText(text) : `${text}\n`)
  }

  #add(line: string) {
    this.#text += line
    this.#lines += 1
  }

  ending(next: Position, { isLast }: { isLast: boolean }): Slice {
    return { bytes: new TextEncoder().encode(this.#text), lines: this.#lines, next, isLast }
  }
}

/** An item of a JSON array behind others, or behind what stands in their place. */
export function itemText(json: string): string {
  return `,\n    ${json}`
}

function eventCells(event: ListedEvent): (string | null)[] {
  const { occurred_ms, received_ms, ...texts } = event
  const cells = {
    ...texts,
    occurred_at: instantText(occurred_ms ?? received_ms),
    received_at: instantText(received_ms),
  }
  return COLUMNS.events.map((name) => cells[name])
}
