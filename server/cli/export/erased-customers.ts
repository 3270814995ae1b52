import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../../client/index.ts'
import { dataOf, PAGE } from '../replies.ts'

/**
 * What an older server answers for a path that it does not have; it takes the path of erasures for that of a customer.
 */
export const UNKNOWN_THERE: ReadonlySet<string> = new Set([
  'not_found',
  'method_not_allowed',
  'customer_not_found',
])

/** Wait before asking again for what the replicas have not settled yet. */
export const LOOK_MS = 200

/** Returns the identifiers of all customers whose erasure was acknowledged before the call. */
export async function erasedCustomers(client: Client, signal: AbortSignal): Promise<Set<string>> {
  const erased = new Set<string>()
  let cursor: string | undefined
  let begun_ms: number | undefined
  for (;;) {
    const query = { limit: PAGE, ...(cursor && { cursor }) }
    const answer = await client.listErasures({ query, signal })
    // A server without the list erases nobody.
    if (answer.error && UNKNOWN_THERE.has(answer.error.code)) return erased
    const { data, next_cursor, caught_up_to } = dataOf(answer)
    for (const { customer_id } of data) erased.add(customer_id)
    cursor = next_cursor
    begun_ms ??= begunAt(answer.response)
    if (caught_up_to === null) continue
    if (Date.parse(caught_up_to) >= begun_ms) return erased
    await sleep(LOOK_MS, undefined, { signal })
  }
}

/** The header has whole seconds; the next full second is not before the response. */
export function begunAt({ headers }: Response): number {
  return Date.parse(headers.get('date') ?? new Date().toUTCString()) + 1000
}
