import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import type { Position } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import { fittingPage, pageOf } from '../domain/paging.ts'
import { settledIfSoon } from '../storage/exports/export-walk.ts'
import type { CustomerJourney } from '../storage/standings/standings.ts'
import { findCustomer } from '../storage/tables/customers.ts'
import { journeysWith } from '../storage/tables/journeys.ts'
import { customerNotFound } from './customer-not-found.ts'
import { namedSteps, stateOf } from './report-numbers.ts'

type Schemas = components['schemas']

/** Maximum journeys per page: each comes with all its steps, perhaps a hundred with long names. */
const MOST_JOURNEYS = 50

export const listCustomerJourneys: Operation<'listCustomerJourneys'> = async (request, context) => {
  const { workspaceId, path, query } = request
  const { storage, reading } = context
  const { limit, ...page } = pageOf(query, 'jrn')
  const few = { ...page, limit: Math.min(limit, MOST_JOURNEYS) }
  const [customer, found] = await Promise.all([
    findCustomer(storage.db, workspaceId, path.customer_id),
    storage.standings.customerJourneys(workspaceId, path.customer_id, few, reading),
  ])
  if (!customer) throw customerNotFound(path.customer_id)
  const journeys = await namedStandings(context, workspaceId, found.rows)
  const rows = journeys.map((row) => ({ row, position: { ms: 0, id: row.journey_id } }))
  return { status: 200, body: fittingPage({ rows, next: found.next }) }
}

/** Yields all journeys of a customer, page by page, as far as reports are up to date. */
export async function* allCustomerJourneys(
  context: Context,
  workspaceId: string,
  customerId: string,
): AsyncGenerator<Schemas['CustomerJourney'][]> {
  const { storage, reading } = context
  const read = async (after?: Position) => {
    const page = { limit: MOST_JOURNEYS, ...(after && { after }) }
    const found = await storage.standings.customerJourneys(workspaceId, customerId, page, reading)
    return { ...found, caughtUp_ms: found.as_of_ms ?? Number.NEGATIVE_INFINITY }
  }
  let found = await settledIfSoon(await storage.clock_ms(reading), reading.signal, read)
  yield await namedStandings(context, workspaceId, found.rows)
  while (found.next) {
    found = await read(found.next)
    yield await namedStandings(context, workspaceId, found.rows)
  }
}

async function namedStandings(
  { storage, reading }: Context,
  workspaceId: string,
  standings: readonly CustomerJourney[],
): Promise<Schemas['CustomerJourney'][]> {
  const ids = standings.map(({ journey_id }) => journey_id)
  const journeys = await journeysWith(storage.lists(reading), workspaceId, ids)
  return standings.flatMap((standing) => {
    const journey = journeys.get(standing.journey_id)
    return journey ? [customerJourney(standing, journey)] : []
  })
}

function customerJourney(standing: CustomerJourney, journey: Schemas['Journey']): Schemas['CustomerJourney'] {
  const { journey_id, name, status } = journey
  const steps = namedSteps(standing, journey.steps).map((step, index) => {
    const filled = standing.reached[index]
    return {
      step: index + 1,
      ...step,
      reached_at: filled ? instantText(filled.at_ms) : null,
      reached_by: filled?.id ?? null,
      out_of_order: standing.out_of_order.includes(index + 1),
    }
  })
  const entered_at = instantText(standing.entered_ms)
  return { journey_id, name, status, entered_at, steps, ...stateOf(standing) }
}
