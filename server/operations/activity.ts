import type { Operation } from '../contract.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { type ActivityGroup, PERIOD_MS, PERIODS, periodOf } from '../storage/activity.ts'

/** An answer has so many periods where it is asked for no beginning. */
const PERIODS_BACK = { minute: 60, hour: 24, day: 30 }

/** In a group the field that it is grouped by says which it is. */
const NO_GROUP = { journey_id: null, event_id: null, key_id: null }

export const getActivity: Operation<'getActivity'> = async ({ workspaceId, query }, context) => {
  const { storage, reading, now } = context
  const { by = 'hour', from, to, ...others } = query
  const length_ms = PERIOD_MS[by]
  const end_ms = to === undefined ? now() + 1 : instant_ms(to)
  const to_ms = periodOf(end_ms - 1, by) + length_ms
  const asked_ms = from === undefined ? to_ms - PERIODS_BACK[by] * length_ms : instant_ms(from)
  const from_ms = periodOf(Math.min(asked_ms, end_ms - 1), by)
  if ((to_ms - from_ms) / length_ms > PERIODS) throw new Problem('too_many_periods')

  const activity = await storage.activity(workspaceId, { by, from_ms, to_ms, ...others }, reading)
  const counted = new Map(activity.periods.map(({ start_ms, ...counts }) => [start_ms, counts]))
  const periods = Array.from({ length: (to_ms - from_ms) / length_ms }, (_, index) => {
    const start_ms = from_ms + index * length_ms
    const counts = counted.get(start_ms) ?? { created: 0, duplicate: 0, rejected: 0 }
    return { starts_at: instantText(start_ms), ...counts }
  })
  const groupOf = ({ group, last_ms, ...counts }: ActivityGroup) => {
    const field = query.group_by && { [`${query.group_by}_id`]: group }
    return { ...NO_GROUP, ...field, ...counts, last_at: instantText(last_ms) }
  }
  return {
    status: 200,
    body: {
      from: instantText(from_ms),
      to: instantText(to_ms),
      by,
      kept_from: instantText(activity.kept_from_ms),
      total: activity.total,
      periods,
      groups: activity.groups.map(groupOf),
      groups_omitted: activity.groups_omitted,
    },
  }
}
