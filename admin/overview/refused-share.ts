import { useQuery } from '@tanstack/react-query'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { hour_ms } from '../parts/instants/lengths.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { type Rejections, rejectionsOf } from './rejections.ts'
import { isUnusual, type Mistake, type Sum, worstOf } from './unusual-rejections.ts'

/** What was rejected in this hour and the one before; few periods, because every page reads them. */
export type RefusedShare = {
  since: Date
  rejections: Rejections
  /** Events received, including rejected ones. */
  received: number
  /** Whether people should be alerted. */
  isUnusual: boolean
  /** The most frequent error; undefined if there is none, and for viewers, who may not see rejected requests. */
  worst: Mistake | undefined
}

/** How much was rejected recently, and whether that is unusual. Refreshed every minute. */
export function useRefusedShare() {
  const cairn = useCairn()
  const { canChange } = useMembership()
  return useQuery({
    queryKey: useWorkspaceKey('refusals', 'share', canChange),
    queryFn: ({ signal }) => readShare(cairn, canChange, signal),
    refetchInterval: 60_000,
    staleTime: 30_000,
  })
}

async function readShare(
  cairn: PersonClient,
  seesRefusals: boolean,
  signal: AbortSignal,
): Promise<RefusedShare> {
  const now = Date.now()
  const since = now - (now % hour_ms) - hour_ms
  const at = (ms: number) => new Date(ms).toISOString()
  const [day, kept] = await Promise.all([
    taken(
      cairn.getActivity({
        // The end is by this clock too, which may differ from the server's.
        query: { by: 'hour', from: at(since - 22 * hour_ms), to: at(since + 2 * hour_ms) },
        signal,
      }),
    ),
    // Requests that are rejected as a whole are not in the event counters.
    seesRefusals
      ? taken(cairn.getRefusalSummary({ query: { received_from: at(since), periods: 1 }, signal }))
      : undefined,
  ])
  const lately = sumOf(day.periods.filter(({ starts_at }) => Date.parse(starts_at) >= since))
  const before = sumOf(day.periods.filter(({ starts_at }) => Date.parse(starts_at) < since))
  const rejections = rejectionsOf(lately, kept)
  return {
    since: new Date(since),
    rejections,
    received: lately.received,
    isUnusual: isUnusual(rejections, lately, before),
    worst: kept && worstOf(kept),
  }
}

function sumOf(periods: readonly Schemas['ActivityPeriod'][]): Sum {
  const sum = { received: 0, rejected: 0 }
  for (const { created, duplicate, rejected } of periods) {
    sum.received += created + duplicate + rejected
    sum.rejected += rejected
  }
  return sum
}
