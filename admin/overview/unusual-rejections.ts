import type { Schemas } from '../../client/person.ts'
import { type Rejections, rejectionCount } from './rejections.ts'

/** Fewer rejections than this are somebody trying things out. */
const least = 10

/** A smaller share is normal: senders always get something wrong. */
const leastShare = 0.05

/** The factor over the previous day's share that is unusual. */
const growth = 2

export type Mistake = Pick<Schemas['RefusalGroup'], 'code' | 'key_id' | 'first_at' | 'count'> & {
  field: string | null
}

/** Counts of events. */
export type Sum = { received: number; rejected: number }

/** The most frequent of the kept and the unsaved mistakes. */
export function worstOf({
  groups,
  unsaved,
}: Pick<Schemas['RefusalSummary'], 'groups' | 'unsaved'>): Mistake | undefined {
  const counted = unsaved.map((mistake) => ({ ...mistake, field: null }))
  const [worst] = [...groups.slice(0, 1), ...counted.slice(0, 1)].sort((a, b) => b.count - a.count)
  return worst
}

/** Whether people should be alerted to the rejections of late, compared with those of the day before. */
export function isUnusual(rejections: Rejections, lately: Sum, before: Sum): boolean {
  const { events, requests, customers } = rejections
  // Somebody is trying to send the first events, and all are rejected.
  const isNothingStored = lately.received + before.received === lately.rejected + before.rejected
  if (isNothingStored && rejectionCount(rejections) > 0) return true
  if (customers >= least && customers >= leastShare * (lately.received + customers)) return true
  const rejected = events + requests
  const sent = lately.received + requests
  if (rejected < least || rejected < leastShare * sent) return false
  return before.received === 0 || rejected / sent > growth * (before.rejected / before.received)
}
