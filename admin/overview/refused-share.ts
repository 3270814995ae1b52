import { useQuery } from '@tanstack/react-query'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

const hour_ms = 3_600_000

/** Fewer are tried out by somebody. */
const least = 10

/** A lesser part is what senders always get wrong. */
const leastShare = 0.05

/** So many times what it was in the day before. */
const growth = 2

/** What was refused in this hour and the one before: few periods, as each page asks for them. */
export type RefusedShare = {
  since: Date
  refused: number
  sent: number
  /** Whether that is more than people should have to look for. */
  isUnusual: boolean
  /** The most frequent mistake; undefined for who may not see refusals, and where there is none. */
  worst: Schemas['RefusalGroup'] | undefined
}

/** How much of what was sent lately was refused, and whether that is unusual. Asked again every minute. */
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
        // Up to a time of this clock too: it may be far from the server's.
        query: { by: 'hour', from: at(since - 22 * hour_ms), to: at(since + 2 * hour_ms) },
        signal,
      }),
    ),
    // What has the wrong form is in no counter.
    seesRefusals
      ? taken(cairn.getRefusalSummary({ query: { received_from: at(since), periods: 1 }, signal }))
      : undefined,
  ])
  const lately = sumOf(day.periods.filter(({ starts_at }) => Date.parse(starts_at) >= since))
  const before = sumOf(day.periods.filter(({ starts_at }) => Date.parse(starts_at) < since))
  const refused = Math.max(lately.refused, kept?.count ?? 0)
  const sent = lately.taken + refused
  return {
    since: new Date(since),
    refused,
    sent,
    isUnusual: isUnusual(refused, sent, before),
    worst: kept?.groups[0],
  }
}

function sumOf(periods: readonly Schemas['ActivityPeriod'][]) {
  const sum = { taken: 0, refused: 0 }
  for (const { created, duplicate, rejected } of periods) {
    sum.taken += created + duplicate
    sum.refused += rejected
  }
  return sum
}

function isUnusual(refused: number, sent: number, before: ReturnType<typeof sumOf>): boolean {
  if (refused < least || refused < leastShare * sent) return false
  const sentBefore = before.taken + before.refused
  return sentBefore === 0 || refused / sent > growth * (before.refused / sentBefore)
}
