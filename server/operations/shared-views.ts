import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { networkOf } from '../domain/addresses.ts'
import { instantText } from '../domain/instants.ts'
import { JsonBytes } from '../domain/json-bytes.ts'
import { Problem } from '../problems.ts'
import { findLinkedView, type LinkedView } from '../storage/tables/view-links.ts'
import type { ViewQuery } from '../storage/tables/views.ts'
import { getJourneyReport, getJourneyStepTimes, getJourneyTrend } from './reports.ts'
import { comparisonOf, filterOf } from './view-query.ts'

type SharedView = components['schemas']['SharedView']

export const readSharedView: Operation<'readSharedView'> = async ({ body: { token } }, context) => {
  const { sharedViews, now } = context
  // The link itself is looked up each time: one that was revoked shows nothing from then on.
  const link = await linkedView(token, context)
  // By what is shown and not by the time of its last change: two changes may be of one millisecond.
  const name = JSON.stringify([link.link_id, link.name, link.query])
  const started_ms = now()
  const recent = sharedViews.recent(name, started_ms)
  if (recent) return { status: 200, body: await recent }
  const answer = answerOf(link, context)
  sharedViews.keep(name, answer, started_ms)
  return { status: 200, body: await answer }
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

async function answerOf(link: LinkedView, { storage, now }: Context): Promise<JsonBytes<SharedView>> {
  // In the queue of the link's workspace, and not aborted when the first of its readers disconnects.
  const { signal } = new AbortController()
  const reading = { caller: 'shared_views', workspaceId: link.workspace_id, signal }
  const numbers = await numbersOf(link, { storage, now, reading })
  return new JsonBytes(Buffer.from(JSON.stringify(numbers)))
}

async function numbersOf(
  link: LinkedView,
  context: Pick<Context, 'storage' | 'reading' | 'now'>,
): Promise<SharedView> {
  const { workspace_id: workspaceId, journey_id, journey_name, name, query, expires_ms } = link
  const { chart } = query
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
    const trend = await trendOf(query, (periods) =>
      getJourneyTrend({ ...request, query: { ...filter, ...periods } }, context),
    )
    if (trend) shared.trend = plain(trend.body)
  }
  if (chart === 'step_times') {
    const { steps } = shared.report
    const { step } = steps.find(({ step }) => step === query.step) ?? steps[1] ?? steps[0] ?? { step: 1 }
    shared.step_times = plain(
      (await getJourneyStepTimes({ ...request, query: { ...filter, step } }, context)).body,
    )
  }
  return shared
}

type Periods = Pick<ViewQuery, 'by' | 'time_zone'>

/** From short to long. */
const PERIODS = ['day', 'week', 'month'] as const

/** Returns the trend of a view in its periods, or in the shortest of which there are not too many; undefined if none are. */
async function trendOf<Trend>(
  { by: shortest = 'day', time_zone }: ViewQuery,
  read: (periods: Periods) => Promise<Trend>,
): Promise<Trend | undefined> {
  for (const by of PERIODS.slice(PERIODS.indexOf(shortest))) {
    try {
      return await read({ by, ...(time_zone !== undefined && { time_zone }) })
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'too_many_periods')) throw error
    }
  }
  return undefined
}

function plain<Value extends object>(body: Value | JsonBytes<Value>): Value {
  if (body instanceof JsonBytes) throw new Error('reports are answered as values')
  return body
}
