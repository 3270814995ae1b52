import type { Position } from '../../domain/cursors.ts'
import { PAGE_BYTES, type Page } from '../../domain/paging.ts'
import type { EventFilter } from '../event-store.ts'
import { END, type EventTexts, OTHER_BYTES, PageTexts } from '../event-texts.ts'
import type { Connection } from './connection.ts'
import { eventOf, type StoredEvent } from './stored-event.ts'
import { digitsOf, firstUuidOf, idOf, msOf, parsedUuid, uuidOf } from './uuids.ts'

/**
 * So many events are looked at for a page, or of a customer sorted. Only where a filter finds few events among many are
 * there so many; the page then ends early.
 */
const LOOKED_AT = 10_000

type EventRow = StoredEvent & {
  /** Null also where the event is beyond the page. */
  custom_variables: string | null
  fits: boolean
}

/** Parameters of a statement, and their places in it. */
class Parameters {
  readonly values: unknown[] = []

  /** The place of a value. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Events in the order of their identifiers, which is that of their arrival at each replica, newest first. */
export async function readNewest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<EventTexts> {
  const { journey_id, customer_id, event_id, from_ms, to_ms } = filter
  const journey = journey_id === undefined ? undefined : parsedIdentifier('jrn', journey_id)
  const customer = customer_id === undefined ? undefined : parsedIdentifier('cus', customer_id)
  if (journey === null || customer === null) return END

  const end = earliest(
    page.after && uuidOf(page.after.id),
    to_ms === undefined ? undefined : firstUuidOf(to_ms),
  )
  const begin = from_ms === undefined ? undefined : firstUuidOf(from_ms)
  const span = (parameters: Parameters) => [
    `workspace_id = ${parameters.add(uuidOf(workspace_id))}`,
    ...(end === undefined ? [] : [`id < ${parameters.add(end)}`]),
    ...(begin === undefined ? [] : [`id >= ${parameters.add(begin)}`]),
  ]
  const matching = (parameters: Parameters) => [
    ...(journey === undefined ? [] : [`journey_id = ${parameters.add(journey)}`]),
    ...(customer === undefined ? [] : [`customer_id = ${parameters.add(customer)}`]),
    ...(event_id === undefined ? [] : [`event_id = ${parameters.add(event_id)}`]),
  ]
  const isNarrowed = journey !== undefined || customer !== undefined || event_id !== undefined
  const ofCustomer = customer === undefined ? undefined : await fewOf(connection, customer)
  const walkedTo = isNarrowed && !ofCustomer ? await walkEnd(connection, span) : undefined

  const parameters = new Parameters()
  const conditions = [...span(parameters), ...matching(parameters)]
  if (walkedTo !== undefined) conditions.push(`id >= ${parameters.add(walkedTo)}`)
  if (ofCustomer) conditions.push(`id = ANY(${parameters.add(ofCustomer)}::uuid[])`)
  const sql = pageOf({ conditions, order: 'id DESC', limit: parameters.add(page.limit + 1) })
  const { rows } = await connection.run<EventRow>(sql, parameters.values)
  const early = walkedTo === undefined ? undefined : newestPosition(walkedTo)
  return textsOf(rows, page, (row) => newestPosition(digitsOf(row.id)), early)
}

/** Events of a customer by (`at_ms`, `id`), latest first. */
export async function readTimeline(
  connection: Connection,
  workspace_id: string,
  customer_id: string,
  page: Page,
): Promise<EventTexts> {
  const customer = parsedIdentifier('cus', customer_id)
  if (customer === null) return END
  const parameters = new Parameters()
  const conditions = [
    `workspace_id = ${parameters.add(uuidOf(workspace_id))}`,
    `customer_id = ${parameters.add(customer)}`,
  ]
  if (page.after) {
    const { ms, id } = page.after
    conditions.push(`(at_ms, id) < (${parameters.add(ms)}, ${parameters.add(uuidOf(id))}::uuid)`)
  }
  const sql = pageOf({ conditions, order: 'at_ms DESC, id DESC', limit: parameters.add(page.limit + 1) })
  const { rows } = await connection.run<EventRow>(sql, parameters.values)
  return textsOf(rows, page, ({ at_ms, id }) => ({ ms: at_ms, id: idOf('evt', digitsOf(id)) }))
}

/** The UUID of an identifier of a kind; null for what is none, and so nobody's. */
function parsedIdentifier(prefix: 'jrn' | 'cus', id: string): string | null {
  return (id.startsWith(`${prefix}_`) && parsedUuid(id)) || null
}

function earliest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}

/** The identifiers of a customer's events, where they are not more than are looked at for a page. */
async function fewOf(connection: Connection, customer: string): Promise<string[] | undefined> {
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE customer_id = $1 LIMIT ${LOOKED_AT + 1}`,
    [customer],
  )
  return rows.length > LOOKED_AT ? undefined : rows.map(({ id }) => id)
}

/** Where a page ends at the latest if its events have to be looked at one by one; undefined where the list ends before. */
async function walkEnd(
  connection: Connection,
  span: (parameters: Parameters) => string[],
): Promise<string | undefined> {
  const parameters = new Parameters()
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE ${span(parameters).join(' AND ')}
      ORDER BY id DESC OFFSET ${LOOKED_AT - 1} LIMIT 1`,
    parameters.values,
  )
  return rows[0] && digitsOf(rows[0].id)
}

/**
 * A page and the event behind it. Of events that do not fit into it the variables are not read: only their length, which
 * stands at the head of the row.
 */
function pageOf({
  conditions,
  order,
  limit,
}: {
  conditions: string[]
  order: string
  limit: string
}): string {
  return `
    SELECT id, journey_id, customer_id, event_id, at_ms, is_dated, message_id, message_text, received_ms, fits,
      CASE WHEN fits THEN custom_variables END AS custom_variables
    FROM (
      SELECT *, row_number() OVER page = 1 OR sum(${OTHER_BYTES} + coalesce(octet_length(custom_variables), 0))
        OVER page <= ${PAGE_BYTES} AS fits
      FROM (
        SELECT * FROM events WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${limit}
      ) AS listed
      WINDOW page AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    ) AS measured
    ORDER BY ${order}`
}

function newestPosition(uuid: string): Position {
  return { ms: msOf(uuid), id: idOf('evt', uuid) }
}

/** @param early where the list was walked to, and may go on */
function textsOf(
  rows: readonly EventRow[],
  page: Page,
  positionOf: (row: EventRow) => Position,
  early?: Position,
): EventTexts {
  const texts = new PageTexts(page)
  for (const row of rows) {
    const stored = eventOf(row)
    const event = { ...stored, id: idOf('evt', stored.id), custom_variables: row.custom_variables }
    if (!row.fits || !texts.add(event, positionOf(row))) return texts.endingBehindLast()
  }
  return early ? texts.endingEarly(early) : texts.ending()
}
