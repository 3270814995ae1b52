import type { Position } from '../../../domain/cursors.ts'
import { type VariableFilter, variablesTest } from '../../../domain/event-values.ts'
import { PAGE_BYTES, type Page } from '../../../domain/paging.ts'
import { type EventTexts, type ListedEvent, OTHER_BYTES, PageTexts } from '../../events/event-json.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, idOf, msOf } from '../connection/uuids.ts'
import { eventOf, type StoredEvent } from './stored-event.ts'

export type EventRow = StoredEvent & {
  /** Its position in the order of arrival, if requested. */
  order_ms?: number
  /** Also null if the event is beyond the page. */
  custom_variables: string | null
  fits: boolean
}

/**
 * The query of a page and the event after it. For events that do not fit, it does not read the variables, only their
 * length, which is in the row header.
 */
export function pageOf({
  listed,
  order,
  columns = '',
  limit_bytes = PAGE_BYTES,
}: {
  /** A query of the events, in any order. */
  listed: string
  order: string
  /** Additional columns of the query, each followed by a comma. */
  columns?: string
  /** Size of the page in bytes of JSON. */
  limit_bytes?: number
}): string {
  return `
    SELECT ${columns}id, journey_id, customer_id, event_id, at_ms, is_dated, message_id, message_text, received_ms, key_id,
      fits, CASE WHEN fits THEN custom_variables END AS custom_variables
    FROM (
      SELECT *, row_number() OVER page = 1 OR sum(${OTHER_BYTES} + coalesce(octet_length(custom_variables), 0))
        OVER page <= ${limit_bytes} AS fits
      FROM (${listed}) AS listed
      WINDOW page AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    ) AS measured
    ORDER BY ${order}`
}

export type Named = Pick<ListedEvent, 'customer_name' | 'client_customer_id'>

/** The customers of a page by identifier, and the journeys being removed. */
export type References = { customers: Map<string, Named>; removed: Set<string> }

/** Reads those of a page in one statement. Customer keys are texts; events have their UUIDs. */
export async function referencesOf(
  connection: Connection,
  workspace_id: string,
  rows: readonly EventRow[],
): Promise<References> {
  const ids = new Set(rows.map(({ customer_id }) => idOf('cus', digitsOf(customer_id))))
  if (ids.size === 0) return { customers: new Map(), removed: new Set() }
  const { rows: found } = await connection.run<
    (Named & { customer_id: string; journey_id: null }) | { customer_id: null; journey_id: string }
  >(
    `SELECT customer_id, customer_name, client_customer_id, NULL AS journey_id FROM customers
    WHERE workspace_id = $1 AND customer_id = ANY($2::text[])
    UNION ALL SELECT NULL, NULL, NULL, subject_id FROM removals
    WHERE workspace_id = $1 AND kind = 'journey' AND before_ms IS NULL`,
    [workspace_id, [...ids]],
  )
  const customers = new Map<string, Named>()
  const removed = new Set<string>()
  for (const row of found) {
    if (row.customer_id === null) removed.add(row.journey_id)
    else
      customers.set(row.customer_id, {
        customer_name: row.customer_name,
        client_customer_id: row.client_customer_id,
      })
  }
  return { customers, removed }
}

/** Converts a row; undefined if its customer or journey was removed, and it will be removed next. */
export function listedOf(row: EventRow, { customers, removed }: References): ListedEvent | undefined {
  const stored = eventOf(row)
  const customer = removed.has(stored.journey_id) ? undefined : customers.get(stored.customer_id)
  return (
    customer && {
      ...stored,
      ...customer,
      id: idOf('evt', stored.id),
      custom_variables: row.custom_variables,
    }
  )
}

type Texts = {
  page: Page
  references: References
  positionOf: (row: EventRow) => Position
  /** How far the list was scanned, if it may continue. */
  early: Position | undefined
  /** What the variables must be. */
  variables: readonly VariableFilter[]
}

export function textsOf(
  rows: readonly EventRow[],
  { page, references, positionOf, early, variables }: Texts,
): EventTexts {
  const texts = new PageTexts(page)
  const matches = variablesTest(variables)
  for (const row of rows) {
    if (!row.fits) return texts.endingBehindLast()
    const event = matches(row.custom_variables) ? listedOf(row, references) : undefined
    const position = positionOf(row)
    // Other variables, or removed between the two statements, together with its events.
    if (!event) {
      texts.skip(position)
      continue
    }
    if (!texts.add(event, position)) return texts.endingBehindLast()
  }
  // More follow, but one of them was removed, so the first one after the page fits.
  if (rows.length > page.limit) return texts.endingBehindLast()
  return early ? texts.endingEarly(early) : texts.ending()
}
export function newestPosition(uuid: string): Position {
  return { ms: msOf(uuid), id: idOf('evt', uuid) }
}
