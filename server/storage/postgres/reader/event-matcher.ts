import type { VariableFilter } from '../../../domain/event-values.ts'
import type { EventFilter } from '../../events/event-filter.ts'
import type { Connection } from '../connection/connection.ts'
import { digitsOf, parsedUuid } from '../connection/uuids.ts'

/**
 * Maximum events scanned per page, or sorted per customer. That many are scanned only if a filter matches few events
 * among many; the page then ends early.
 */
const LOOKED_AT = 10_000

/** The same with a filter by variables, which are read of each event: up to 64 KiB. */
export const VARIABLES_LOOKED_AT = 2_000

/**
 * For a partition that was not analyzed since it grew, the planner assumes that a workspace has few events in it, and a
 * customer as many, and reads both indexes completely. With a condition on time, the next column of the customer's
 * index, it expects almost no rows and reads only that index.
 */
export const AT_ANY_TIME = `at_ms BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`

/** The parameters of a statement, and their placeholders. */
export class Parameters {
  readonly values: unknown[] = []

  /** Adds a value and returns its placeholder. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Returns the UUID of an identifier of a kind; null if it is invalid, and so matches nothing. */
export function parsedIdentifier(prefix: 'evt' | 'jrn' | 'cus' | 'key', id: string): string | null {
  return (id.startsWith(`${prefix}_`) && parsedUuid(id)) || null
}

const NUMBER_OR_BOOLEAN = /^(true|false|-?\d[\d.e+-]*)$/

/**
 * Returns conditions on variables that let a little more pass: stored JSON is that of `JSON.stringify`, so that a field
 * with a value has one form per type, but it may be a field further inside or a longer number, and variables may be a
 * text of JSON. `textsOf` decides. Each that passes takes a place on the page.
 */
export function variableConditions(variables: readonly VariableFilter[], parameters: Parameters): string[] {
  return variables.map(({ name, value }) => {
    const forms = [JSON.stringify(value), ...(NUMBER_OR_BOOLEAN.test(value) ? [value] : [])]
    const fields = forms.map((form) => parameters.add(`${JSON.stringify(name)}:${form}`))
    const found = fields.map((field) => `strpos(custom_variables, ${field}) > 0`)
    return `(${found.join(' OR ')} OR starts_with(custom_variables, '"'))`
  })
}

/** Returns the conditions of a filter; undefined if no event can match. */
export function matchOf(filter: EventFilter) {
  const { id, journey_id, customer_id, event_id, key_id, occurred_from_ms, occurred_to_ms } = filter
  const { variables = [] } = filter
  const event = id === undefined ? undefined : parsedIdentifier('evt', id)
  const journey = journey_id === undefined ? undefined : parsedIdentifier('jrn', journey_id)
  const customer = customer_id === undefined ? undefined : parsedIdentifier('cus', customer_id)
  const key = key_id === undefined ? undefined : parsedIdentifier('key', key_id)
  if (event === null || journey === null || customer === null || key === null) return undefined
  const matching = (parameters: Parameters) => [
    ...(journey === undefined ? [] : [`journey_id = ${parameters.add(journey)}`]),
    ...(customer === undefined ? [] : [`customer_id = ${parameters.add(customer)}`]),
    ...(event_id === undefined ? [] : [`event_id = ${parameters.add(event_id)}`]),
    ...(key === undefined ? [] : [`key_id = ${parameters.add(key)}`]),
    ...(occurred_from_ms === undefined ? [] : [`events.at_ms >= ${parameters.add(occurred_from_ms)}`]),
    ...(occurred_to_ms === undefined ? [] : [`events.at_ms < ${parameters.add(occurred_to_ms)}`]),
    ...variableConditions(variables, parameters),
  ]
  const isByVariables = variables.length > 0
  const isNarrowed =
    isByVariables ||
    [event, journey, customer, event_id, key, occurred_from_ms, occurred_to_ms].some(
      (asked) => asked !== undefined,
    )
  const most = isByVariables ? VARIABLES_LOOKED_AT : LOOKED_AT
  return { event, customer, isNarrowed, matching, most, variables }
}

/** Returns the requested event, or the customer's events if they are no more than are scanned for a page. */
export async function fewOf(
  connection: Connection,
  { event, customer, most }: { event?: string | undefined; customer?: string | undefined; most: number },
): Promise<string[] | undefined> {
  if (event !== undefined) return [event]
  if (customer === undefined) return undefined
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE customer_id = $1 LIMIT ${most + 1}`,
    [customer],
  )
  return rows.length > most ? undefined : rows.map(({ id }) => id)
}

/** Returns where a page must end if its events are scanned one by one; undefined if the list ends earlier. */
export async function walkEnd(
  connection: Connection,
  span: (parameters: Parameters) => string[],
  order: 'ASC' | 'DESC',
  most: number,
): Promise<string | undefined> {
  const parameters = new Parameters()
  const { rows } = await connection.run<{ id: string }>(
    `SELECT id FROM events WHERE ${span(parameters).join(' AND ')}
      ORDER BY id ${order} OFFSET ${most - 1} LIMIT 1`,
    parameters.values,
  )
  return rows[0] && digitsOf(rows[0].id)
}
