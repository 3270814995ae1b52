import { type Kysely, type SqlBool, sql, type Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { deleteSome, inSlices } from './some-rows.ts'
import type { WebhookKey } from './webhooks.ts'

// Until when a customer that has entered a journey should complete it, for the webhooks that are told who does not.

export type JourneyWindow = {
  journey_id: string
  customer_id: string
  /** When the customer entered; null for a window of a version that did not store it. */
  entered_ms: number | null
  closes_ms: number
}

/**
 * Adds windows. A customer that has one keeps its length, even if that of the webhook has changed; an earlier entry moves it.
 * @param windows at most one per customer and journey
 */
export async function insertWindows(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  windows: readonly JourneyWindow[],
): Promise<void> {
  for (const some of inSlices(windows)) {
    await db
      .insertInto('webhook_windows')
      .values(some.map((window) => ({ workspace_id, webhook_id, ...window })))
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'customer_id', 'webhook_id', 'journey_id'])
          .doUpdateSet({
            entered_ms: sql`excluded.entered_ms`,
            closes_ms: sql`webhook_windows.closes_ms - webhook_windows.entered_ms + excluded.entered_ms`,
          })
          .where(sql<SqlBool>`excluded.entered_ms < webhook_windows.entered_ms`),
      )
      .execute()
  }
}

/** The windows of a webhook that have closed, the first ones first. */
export async function closedWindows(
  db: Kysely<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  now_ms: number,
  limit: number,
): Promise<JourneyWindow[]> {
  return await db
    .selectFrom('webhook_windows')
    .select(['journey_id', 'customer_id', 'entered_ms', 'closes_ms'])
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where('closes_ms', '<=', now_ms)
    .orderBy('closes_ms')
    .limit(limit)
    .execute()
}

/** Who of some customers has a window, by journey and customer. */
export async function knownWindows(
  db: Kysely<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  customerIds: readonly string[],
): Promise<Set<string>> {
  const known = new Set<string>()
  for (const some of inSlices(customerIds)) {
    const rows = await db
      .selectFrom('webhook_windows')
      .select(['journey_id', 'customer_id'])
      .where('workspace_id', '=', workspace_id)
      .where('webhook_id', '=', webhook_id)
      .where('customer_id', 'in', some)
      .execute()
    for (const row of rows) known.add(windowKey(row))
  }
  return known
}

export function windowKey({
  journey_id,
  customer_id,
}: Pick<JourneyWindow, 'journey_id' | 'customer_id'>): string {
  return `${journey_id} ${customer_id}`
}

/** Deletes one window. */
export async function deleteWindow(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  { journey_id, customer_id }: JourneyWindow,
): Promise<void> {
  await db
    .deleteFrom('webhook_windows')
    .where('workspace_id', '=', workspace_id)
    .where('customer_id', '=', customer_id)
    .where('webhook_id', '=', webhook_id)
    .where('journey_id', '=', journey_id)
    .execute()
}

/** Deletes some windows of a webhook. @returns whether none is left */
export async function deleteWindows(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
): Promise<boolean> {
  return await deleteSome(db, 'webhook_windows', workspace_id, sql`webhook_id = ${webhook_id}`)
}

/** Deletes some windows of a journey. @returns whether none is left */
export async function deleteWindowsOfJourney(
  db: Transaction<DB>,
  workspace_id: string,
  journey_id: string,
): Promise<boolean> {
  return await deleteSome(db, 'webhook_windows', workspace_id, sql`journey_id = ${journey_id}`)
}

/** Deletes the windows of a customer: at most one per webhook and journey. */
export async function deleteWindowsOf(
  db: Transaction<DB>,
  workspace_id: string,
  customer_id: string,
): Promise<void> {
  await db
    .deleteFrom('webhook_windows')
    .where('workspace_id', '=', workspace_id)
    .where('customer_id', '=', customer_id)
    .execute()
}
