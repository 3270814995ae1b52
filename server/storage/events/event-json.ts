import type { components } from '../../../generated/contract.ts'
import type { Position } from '../../domain/cursors.ts'
import { instantText } from '../../domain/instants.ts'
import { type ForwardRows, PAGE_BYTES, type Page, type PageRows } from '../../domain/paging.ts'

/** Events, each as the JSON of the contract's `Event`. */
export type EventTexts = PageRows<string>

/** The same for a forward walk. */
export type ForwardTexts = ForwardRows<string>

/** An event with what a list shows. */
export type ListedEvent = {
  id: string
  journey_id: string
  customer_id: string
  /** The current name. */
  customer_name: string
  client_customer_id: string
  event_id: string
  /** JSON. */
  custom_variables: string | null
  occurred_ms: number | null
  received_ms: number
  message_id: string | null
  /** Null if unknown. */
  key_id: string | null
}

/** Approximate size of an event in a page besides its variables; names may be longer. */
export const OTHER_BYTES = 400

/** The page of a list without results. */
export const END: EventTexts = { rows: [], next: null }

/** Collects the rows of a page of events. */
export class PageTexts {
  readonly #limit: number
  readonly #rows: string[] = []
  #bytes = 0
  #last: Position | null = null

  constructor({ limit }: Page) {
    this.#limit = limit
  }

  /** @returns false if it does not fit; the first always does */
  add(event: ListedEvent, position: Position): boolean {
    const text = eventText(event)
    this.#bytes += Buffer.byteLength(text)
    if (this.#last && (this.#rows.length === this.#limit || this.#bytes > PAGE_BYTES)) return false
    this.#rows.push(text)
    this.#last = position
    return true
  }

  /** Skips an item that is no longer in the list, and continues after it. */
  skip(position: Position): void {
    this.#last = position
  }

  /** Ends the page at the end of the list. */
  ending(): EventTexts {
    return { rows: this.#rows, next: null }
  }

  /** Ends the page with more rows to follow. */
  endingBehindLast(): EventTexts {
    return { rows: this.#rows, next: this.#last }
  }

  /** Ends the page early, when it is unknown whether more rows follow. */
  endingEarly(next: Position): EventTexts {
    return { rows: this.#rows, next }
  }
}

/** Formats an event as the contract's JSON. Variables are stored as JSON already. */
export function eventText(event: ListedEvent): string {
  const fields = {
    id: `"${event.id}"`,
    journey_id: `"${event.journey_id}"`,
    customer_id: `"${event.customer_id}"`,
    customer_name: JSON.stringify(event.customer_name),
    client_customer_id: JSON.stringify(event.client_customer_id),
    event_id: JSON.stringify(event.event_id),
    custom_variables: event.custom_variables ?? 'null',
    occurred_at: `"${instantText(event.occurred_ms ?? event.received_ms)}"`,
    received_at: `"${instantText(event.received_ms)}"`,
    message_id: JSON.stringify(event.message_id),
    key_id: event.key_id === null ? 'null' : `"${event.key_id}"`,
  } satisfies Record<Exclude<keyof components['schemas']['Event'], 'warnings'>, string>
  // Written out: joining names and texts takes three times as long, most of the time for a row of an export.
  return (
    `{"id":${fields.id},"journey_id":${fields.journey_id},"customer_id":${fields.customer_id},` +
    `"customer_name":${fields.customer_name},"client_customer_id":${fields.client_customer_id},` +
    `"event_id":${fields.event_id},"custom_variables":${fields.custom_variables},` +
    `"occurred_at":${fields.occurred_at},"received_at":${fields.received_at},"message_id":${fields.message_id},` +
    `"key_id":${fields.key_id}}`
  )
}
