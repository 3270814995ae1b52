import type { components } from '../../../generated/contract.ts'
import type { Position } from '../../domain/cursors.ts'
import { COLUMNS, csvLine, type ExportFormat } from '../../domain/export-formats.ts'
import { instantText } from '../../domain/instants.ts'
import type { EventFilter } from '../events/event-filter.ts'
import { eventText, type ListedEvent } from '../events/event-json.ts'

type Customer = components['schemas']['Customer']

/** Approximate size of a slice: it is read in some milliseconds and held once per export. */
export const SLICE_BYTES = 512 * 1024

/** The end of a forward walk that started at an instant. */
export type WalkBound = {
  /** A position in the engine's order of arrival. */
  place: number
  /** A watermark: everything acknowledged by then is before the position. */
  caughtUp_ms: number
}

/** The events of a slice: after a position and before a bound, up to a maximum number. */
export type EventSliceRequest = {
  workspace_id: string
  filter: Omit<EventFilter, 'variables'>
  after: Position
  bound: number
  most: number
  format: SliceFormat
}

/** The format of rows: lines of an export, or items of a JSON array, each after a comma. */
export type SliceFormat = ExportFormat | 'items'

/** Consecutive rows of an export. */
export type Slice = {
  /** The lines, in memory of their own. */
  bytes: Uint8Array<ArrayBuffer>
  lines: number
  /** Where the next slice starts. */
  next: Position
  /** Whether nothing is left before the bound. */
  isLast: boolean
}

/** Collects the lines of a slice. */
export class SliceLines {
  readonly #most: number
  readonly #format: SliceFormat
  #text = ''
  #lines = 0

  constructor({ most, format }: { most: number; format: SliceFormat }) {
    this.#most = most
    this.#format = format
  }

  /** Whether the slice accepts no further row. */
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

/** Formats an item of a JSON array with the comma before it. */
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
