import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { JsonBytes } from '../domain/json-bytes.ts'
import { networkOf } from '../domain/networks.ts'
import { periodsBefore } from '../domain/periods.ts'
import { Problem } from '../problems.ts'
import { findLinkedView, type LinkedView } from '../storage/tables/view-links.ts'
import type { ViewQuery } from '../storage/tables/views.ts'
import { getJourneyReport, getJourneyStepTimes, getJourneyTrend } from './reports.ts'

type SharedView = components['schemas']['SharedView']

export const readSharedView: Operation<'readSharedView'> = async ({ body: { token } }, context) => {
  const { sharedViews, now } = context
  // The link itself is looked up each time: one that was revoked shows nothing from then on.
  const link = await linkedView(token, context)
  // By what is shown and not by the time of its last change: two changes may be of one millisecond.
  const name = JSON.stringify([link.link_id, link.name, link.query])
  const kept = sharedViews.recent(name, now())
  if (kept) return { status: 200, body: kept }
  const started_ms = now()
  const numbers = await numbersOf(link, context)
  const body = new JsonBytes<SharedView>(Buffer.from(JSON.stringify(numbers)))
  sharedViews.keep(name, body, started_ms)
  return { status: 200, body }
}

/**
 * Returns what a token leads to. Only tokens that have never led to anything count as guesses: counting writes to the
 * store, and readers of a link would wait for each other.
 * @throws {Problem} `shared_view_not_found`, whatever the reason; `too_many_attempts`
 */
async function linkedView(token: string, context: Context): Promise<LinkedView> {
  const { storage, sharedViews, attempts, address, now } = context
  const find = () => findLinkedView(storage.db, token, now())
  const link = sharedViews.isKnown(token)
    ? await find()
    : await attempts.guess([{ by: 'link', value: networkOf(address) }], find)
  if (!link) throw new Problem('shared_view_not_found')
  sharedViews.note(token)
  return link
}

async function numbersOf(link: LinkedView, context: Context): Promise<SharedView> {
  const { workspace_id: workspaceId, journey_id, journey_name, name, query, expires_ms } = link
  const { chart, by, step = 1, time_zone } = query
  const filter = filterOf(query, context.now())
  const request = { workspaceId, path: { journey_id }, body: undefined }
  const compared = { ...filter, ...comparisonOf(query, context.now()) }
  const report = await getJourneyReport({ ...request, query: compared }, context)
  const shared: SharedView = {
    name,
    journey_name,
    query,
    expires_at: instantText(expires_ms),
    report: plain(report.body),
  }
  if (chart === 'trend') {
    const periods = { ...(by && { by }), ...(time_zone !== undefined && { time_zone }) }
    shared.trend = plain(
      (await getJourneyTrend({ ...request, query: { ...filter, ...periods } }, context)).body,
    )
  }
  if (chart === 'step_times') {
    shared.step_times = plain(
      (await getJourneyStepTimes({ ...request, query: { ...filter, step } }, context)).body,
    )
  }
  return shared
}

/** The filters and groups of the reports that a view shows at an instant. */
function filterOf(query: ViewQuery, now_ms: number) {
  const { last_days, entered_from, entered_to, customer_type, window, time_zone: zone = 'UTC' } = query
  const { first_step, last_step, step_order, breakdown, touch, variables } = query
  const isRange = entered_from !== undefined || entered_to !== undefined
  const first_ms =
    last_days === undefined || isRange
      ? undefined
      : periodsBefore(now_ms, last_days - 1, { unit: 'day', zone })
  return {
    ...(first_ms !== undefined && { entered_from: instantText(first_ms) }),
    ...(entered_from !== undefined && { entered_from }),
    ...(entered_to !== undefined && { entered_to }),
    ...(customer_type && { customer_type }),
    ...(window !== undefined && { window }),
    ...(first_step !== undefined && { first_step }),
    ...(last_step !== undefined && { last_step }),
    ...(step_order !== undefined && { step_order }),
    ...(breakdown !== undefined && { breakdown }),
    ...(touch !== undefined && { touch }),
    ...(variables !== undefined && { variables }),
  }
}

/** What the report of a view is compared with. A period without an end is compared up to the end of today. */
function comparisonOf(query: ViewQuery, now_ms: number) {
  const { compare, compare_from, compare_to, entered_to, time_zone: zone = 'UTC' } = query
  if (compare === undefined) return {}
  const tomorrow_ms = periodsBefore(now_ms, -1, { unit: 'day', zone })
  return {
    compare,
    ...(compare_from !== undefined && { compare_from }),
    ...(compare_to !== undefined && { compare_to }),
    ...(entered_to === undefined && compare !== 'custom' && { entered_to: instantText(tomorrow_ms) }),
  }
}

function plain<Value extends object>(body: Value | JsonBytes<Value>): Value {
  if (body instanceof JsonBytes) throw new Error('reports are answered as values')
  return body
}
