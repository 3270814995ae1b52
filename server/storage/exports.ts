import type { components } from '../../generated/contract.ts'
import type { Position } from '../domain/cursors.ts'
import type { EventFilter } from './event-store.ts'
import { eventText, type ListedEvent } from './event-texts.ts'

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
}

/** Successive rows of an export. */
export type Slice = {
  /** The lines, each ended by a line feed; with memory of their own. */
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
  #text = ''
  #lines = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Whether no further row belongs to it. */
  get isFull(): boolean {
    return this.#lines >= this.#most || this.#text.length >= SLICE_BYTES
  }

  addEvent(event: ListedEvent): void {
    this.#add(eventText(event))
  }

  addCustomer(customer: components['schemas']['Customer']): void {
    this.#add(JSON.stringify(customer))
  }

  #add(line: string) {
    this.#text += `${line}\n`
    this.#lines += 1
  }

  ending(next: Position, { isLast }: { isLast: boolean }): Slice {
    return { bytes: new TextEncoder().encode(this.#text), lines: this.#lines, next, isLast }
  }
}

/** The last line of an export. */
export function endLine(end: components['schemas']['ExportEnd']): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(end)}\n`)
}
