import type { components } from '../../../generated/contract.ts'
import { instantText } from '../../domain/instants.ts'
import { type Activity, type ActivityGroup, type ActivityRequest, PERIOD_MS, spanOf } from './activity.ts'

type Schemas = components['schemas']

/** In a group, the field that it is grouped by identifies it. */
const NO_GROUP = { journey_id: null, event_id: null, key_id: null }

/** Follows the instant of a period without events. */
const NOTHING = JSON.stringify({ created: 0, duplicate: 0, rejected: 0 }).slice(1)

/** Formats the contract's `Activity` as JSON. Call it in the thread that reads: a day of minutes has 1,440 periods. */
export function activityText(request: ActivityRequest, activity: Activity): string {
  const { by, group_by } = request
  const { from_ms, to_ms } = spanOf(request)
  const { kept_from_ms, total, groups, groups_omitted } = activity
  const rest: Omit<Schemas['Activity'], 'periods'> = {
    from: instantText(from_ms),
    to: instantText(to_ms),
    by,
    kept_from: instantText(kept_from_ms),
    total,
    groups: groups.map((group) => groupOf(group, group_by)),
    groups_omitted,
  }
  return `${JSON.stringify(rest).slice(0, -1)},"periods":[${periodTexts(request, activity)}]}`
}

function groupOf(
  { group, last_ms, ...counts }: ActivityGroup,
  group_by: ActivityRequest['group_by'],
): Schemas['ActivityGroup'] {
  return {
    ...NO_GROUP,
    ...(group_by && { [`${group_by}_id`]: group }),
    ...counts,
    last_at: instantText(last_ms),
  }
}

/** Formats each period of the span, including those without events. */
function periodTexts(request: ActivityRequest, { periods }: Activity): string[] {
  const { from_ms, to_ms } = spanOf(request)
  const counted = periods.values()
  let next = counted.next().value
  const texts: string[] = []
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += PERIOD_MS[request.by]) {
    const starts_at = instantText(start_ms)
    if (next?.start_ms !== start_ms) {
      texts.push(`{"starts_at":"${starts_at}",${NOTHING}`)
      continue
    }
    const { created, duplicate, rejected } = next
    const period: Schemas['ActivityPeriod'] = { starts_at, created, duplicate, rejected }
    texts.push(JSON.stringify(period))
    next = counted.next().value
  }
  return texts
}
