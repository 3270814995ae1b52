import type { Operation } from '../contract.ts'
import { instantOrNull, instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { agedBefore } from '../storage/removals/retention.ts'
import { findJourney } from '../storage/tables/journeys.ts'

export const getRetentionPreview: Operation<'getRetentionPreview'> = async (
  { workspaceId, query },
  { storage, reading, now },
) => {
  const { retention_days, journey_id } = query
  if (journey_id !== undefined && !(await findJourney(storage.db, workspaceId, journey_id)))
    throw new Problem('journey_not_found')
  const before_ms = agedBefore(retention_days, now())
  const of = journey_id === undefined ? {} : { journey_id }
  const { events, isAll } = await storage.events.countEvents(
    workspaceId,
    { ...of, to_ms: before_ms },
    reading,
  )
  const oldest_ms = await storage.events.oldestReceived(workspaceId, { ...of, from_ms: before_ms }, reading)
  return {
    status: 200,
    body: {
      before: instantText(before_ms),
      events,
      more_events: !isAll,
      oldest_kept_at: instantOrNull(oldest_ms),
    },
  }
}
