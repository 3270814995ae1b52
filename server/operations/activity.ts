import type { Operation } from '../contract.ts'
import { instant_ms } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { PERIOD_MS, PERIODS, periodOf } from '../storage/activity/activity.ts'

/** Number of periods in a response if the request sets no start. */
const PERIODS_BACK = { minute: 60, hour: 24, day: 30 }

export const getActivity: Operation<'getActivity'> = async ({ workspaceId, query }, context) => {
  const { storage, reading, now } = context
  const { by = 'hour', from, to, ...others } = query
  const length_ms = PERIOD_MS[by]
  const end_ms = to === undefined ? now() + 1 : instant_ms(to)
  const to_ms = periodOf(end_ms - 1, by) + length_ms
  const asked_ms = from === undefined ? to_ms - PERIODS_BACK[by] * length_ms : instant_ms(from)
  const from_ms = periodOf(Math.min(asked_ms, end_ms - 1), by)
  if ((to_ms - from_ms) / length_ms > PERIODS) throw new Problem('too_many_periods')
  const body = await storage.activity(workspaceId, { by, from_ms, to_ms, ...others }, reading)
  return { status: 200, body }
}
