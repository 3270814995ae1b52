import type { Position } from '../../../domain/cursors.ts'
import type { Page } from '../../../domain/paging.ts'
import type { EventFilter, TimelineFilter } from '../../events/event-filter.ts'
import { END, type EventTexts } from '../../events/event-json.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, firstUuidOf, idOf, uuidOf } from '../connection/uuids.ts'
import {
  AT_ANY_TIME,
  fewOf,
  matchOf,
  Parameters,
  parsedIdentifier,
  VARIABLES_LOOKED_AT,
  variableConditions,
  walkEnd,
} from './event-matcher.ts'
import {
  type EventRow,
  type Named,
  newestPosition,
  pageOf,
  type References,
  referencesOf,
  textsOf,
} from './event-pages.ts'

/** Reads events by identifier, newest first, which is the order of arrival at each replica. */
export async function readNewest(
  connection: Connection,
  workspace_id: string,
  filter: EventFilter,
  page: Page,
): Promise<EventTexts> {
  const match = matchOf(filter)
  if (!match) return END
  const { from_ms, to_ms } = filter
  const { isNarrowed, matching, most, variables } = match
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
  const few = await fewOf(connection, match)
  const walkedTo = isNarrowed && !few ? await walkEnd(connection, span, 'DESC', most) : undefined

  const parameters = new Parameters()
  const conditions = [...span(parameters), ...matching(parameters)]
  if (walkedTo !== undefined) conditions.push(`id >= ${parameters.add(walkedTo)}`)
  if (few) conditions.push(`id = ANY(${parameters.add(few)}::uuid[])`)
  const limit = parameters.add(page.limit + 1)
  const listed = queryOf({ conditions, order: 'id DESC', limit })
  const sql = pageOf({ listed, order: 'id DESC' })
  const { rows } = await connection.run<EventRow>(sql, parameters.values)
  const early = walkedTo === undefined ? undefined : newestPosition(walkedTo)
  const references = await referencesOf(connection, workspace_id, rows)
  const positionOf = (row: EventRow) => newestPosition(digitsOf(row.id))
  return textsOf(rows, { page, references, positionOf, early, variables })
}

/** Reads events of a customer by (`at_ms`, `id`), latest first. */
export async function readTimeline(
  connection: Connection,
  workspace_id: string,
  customer_id: string,
  page: Page & TimelineFilter,
): Promise<EventTexts> {
  const { variables = [] } = page
  const customer = parsedIdentifier('cus', customer_id)
  if (customer === null) return END
  const parameters = new Parameters()
  const conditions = [
    `workspace_id = ${parameters.add(uuidOf(workspace_id))}`,
    `customer_id = ${parameters.add(customer)}`,
    AT_ANY_TIME,
  ]
  if (page.after) {
    const { ms, id } = page.after
    conditions.push(`(at_ms, id) < (${parameters.add(ms)}, ${parameters.add(uuidOf(id))}::uuid)`)
  }
  const order = 'at_ms DESC, id DESC'
  const early = variables.length > 0 ? await timelineEnd(connection, conditions, parameters) : undefined
  if (early) {
    conditions.push(`(at_ms, id) >= (${parameters.add(early.ms)}, ${parameters.add(uuidOf(early.id))}::uuid)`)
  }
  conditions.push(...variableConditions(variables, parameters))
  const listed = queryOf({ conditions, order, limit: parameters.add(page.limit + 1) })
  // In one statement, because under load each response waits for this thread.
  const sql = `
    WITH named AS MATERIALIZED (${namedOf(parameters.add(workspace_id), parameters.add(customer_id))})
    SELECT * FROM (${pageOf({ listed, order })}) AS page LEFT JOIN named ON true ORDER BY ${order}`
  type TimelineRow = EventRow & AllOrNone<Named & { removed: string[] }>
  // The same for all customers; with variables it differs by their number. Planning takes longer than running it.
  const { rows } = await (variables.length === 0
    ? connection.runPrepared<TimelineRow>(sql, parameters.values)
    : connection.run<TimelineRow>(sql, parameters.values))
  const [first] = rows
  const references: References = { customers: new Map(), removed: new Set(first?.removed ?? []) }
  if (first && first.removed !== null) {
    const { customer_name, client_customer_id } = first
    references.customers.set(customer_id, { customer_name, client_customer_id })
  }
  const positionOf = ({ at_ms, id }: EventRow) => ({ ms: at_ms, id: idOf('evt', digitsOf(id)) })
  return textsOf(rows, { page, references, positionOf, early, variables })
}

/** Returns where a page of a timeline must end whose events are scanned one by one, like `walkEnd`. */
async function timelineEnd(
  connection: Connection,
  conditions: readonly string[],
  { values }: Parameters,
): Promise<Position | undefined> {
  const { rows } = await connection.run<{ at_ms: number; id: string }>(
    `SELECT at_ms, id FROM events WHERE ${conditions.join(' AND ')}
    ORDER BY at_ms DESC, id DESC OFFSET ${VARIABLES_LOOKED_AT - 1} LIMIT 1`,
    values,
  )
  return rows[0] && { ms: rows[0].at_ms, id: idOf('evt', digitsOf(rows[0].id)) }
}

type AllOrNone<Columns> = Columns | Record<keyof Columns, null>

/** The customer's name, and the journeys being removed; no row if the customer was removed. */
function namedOf(workspace_id: string, customer_id: string): string {
  return `
    SELECT customer_name, client_customer_id, ARRAY(
      SELECT subject_id FROM removals
      WHERE removals.workspace_id = ${workspace_id} AND kind = 'journey' AND before_ms IS NULL
    ) AS removed
    FROM customers WHERE workspace_id = ${workspace_id} AND customer_id = ${customer_id}`
}

function earliest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}

type Listed = { conditions: string[]; order: string; limit: string }

function queryOf({ conditions, order, limit }: Listed): string {
  return `SELECT * FROM events WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${limit}`
}
