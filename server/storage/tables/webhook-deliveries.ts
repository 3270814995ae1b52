import { type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB, WebhookDeliveries } from '../../../generated/tables.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import type { NewDelivery } from '../../domain/webhook-messages.ts'
import { runDeclared } from '../effects.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import { deleteSome, inSlices } from './some-rows.ts'
import type { WebhookKey } from './webhooks.ts'

export type DeliveryStatus = components['schemas']['DeliveryStatus']

export type StoredDelivery = Omit<Selectable<WebhookDeliveries>, 'status' | 'workspace_id' | 'webhook_id'> & {
  status: DeliveryStatus
}

/** How many deliveries of a webhook wait to be sent for the first time; beyond it nothing more is read for the webhook. */
export const MOST_PENDING = 1_000

/**
 * Likewise with those that wait to be sent again: a receiver may reject some for days while it accepts all others. Reading
 * stops, instead of giving up the oldest, so that no message loses its retries.
 */
const MOST_WAITING = 10_000

/**
 * Creates deliveries; those that exist are left as they are, or are due again.
 * @param options.again whether what was sent is sent again
 */
export async function insertDeliveries(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  deliveries: readonly NewDelivery[],
  { again = false } = {},
): Promise<void> {
  for (const some of inSlices(deliveries)) {
    const rows = some.map((delivery) => {
      return { workspace_id, webhook_id, status: 'pending', ...delivery }
    })
    await db
      .insertInto('webhook_deliveries')
      .values(rows)
      .onConflict((conflict) => {
        const same = conflict.columns(['workspace_id', 'webhook_id', 'delivery_id'])
        if (!again) return same.doNothing()
        return same.doUpdateSet(({ ref }) => ({
          status: 'pending',
          attempts: 0,
          message: ref('excluded.message'),
          next_ms: ref('excluded.next_ms'),
        }))
      })
      .execute()
  }
}

/** Selects from the deliveries of a webhook. */
function deliveriesOf(db: Kysely<DB>, { workspace_id, webhook_id }: WebhookKey) {
  return db
    .selectFrom('webhook_deliveries')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
}

/** The deliveries of a webhook that are due, first those that are due for longest; no more than a page of a list takes. */
export async function dueDeliveries(
  db: Kysely<DB>,
  webhook: WebhookKey,
  now_ms: number,
  limit: number,
): Promise<PageRows<StoredDelivery>> {
  const all = deliveriesOf(db, webhook)
  const keys = all
    .select([sql<number>`next_ms`.as('ms'), 'delivery_id as id', deliveryBytes])
    .where('next_ms', '<=', now_ms)
    .orderBy('next_ms')
  return await readPage(keys, { limit }, async (ids) => {
    const rows = await all.selectAll().where('delivery_id', 'in', ids).execute()
    return rows.map((row) => [row.delivery_id, storedOf(row)] as const)
  })
}

const deliveryBytes = bytes({ json: ['message'], text: ['response'] })

/**
 * The delivery of a webhook whose next attempt is the first, of those that have failed or those that were never sent;
 * undefined if there is none.
 */
export async function nextDelivery(
  db: Kysely<DB>,
  webhook: WebhookKey,
  { isRetried }: { isRetried: boolean },
): Promise<StoredDelivery | undefined> {
  const all = deliveriesOf(db, webhook)
  // In the index alone: of 10,000 that wait, SQLite would read every message.
  const next = all
    .select('delivery_id')
    .where('next_ms', 'is not', null)
    .where('attempts', isRetried ? '>' : '=', 0)
    .orderBy('next_ms')
    .limit(1)
  const row = await all.selectAll().where('delivery_id', '=', next).executeTakeFirst()
  return row && storedOf(row)
}

/** The deliveries of a webhook that wait, in an index that has nothing else. */
function waiting(db: Kysely<DB>, webhook: WebhookKey) {
  return deliveriesOf(db, webhook).select('attempts').where('next_ms', 'is not', null)
}

/** How many deliveries of a webhook wait, up to the maximum. */
export async function countPending(db: Kysely<DB>, webhook: WebhookKey): Promise<number> {
  const { count } = await db
    .selectFrom(waiting(db, webhook).limit(MOST_PENDING).as('waiting'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Whether so many deliveries of a webhook wait that nothing more is read for it. */
export async function isFull(db: Kysely<DB>, webhook: WebhookKey): Promise<boolean> {
  const { count, untried } = await db
    .selectFrom(waiting(db, webhook).limit(MOST_WAITING).as('waiting'))
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.countAll<number>().filterWhere('attempts', '=', 0).as('untried'),
    ])
    .executeTakeFirstOrThrow()
  return Number(count) >= MOST_WAITING || Number(untried) >= MOST_PENDING
}

/** A delivery about an erased customer is not shown, even before it is removed; only that the customer was erased is. */
const isShown = sql<SqlBool>`(
  webhook_deliveries.type = 'customer.erased'
  OR NOT EXISTS (
    SELECT 1 FROM erasures
    WHERE erasures.workspace_id = webhook_deliveries.workspace_id
      AND erasures.customer_id = webhook_deliveries.customer_id
  )
)`

/** Returns a delivery that may be shown. */
export async function findDelivery(
  db: Kysely<DB>,
  webhook: WebhookKey,
  delivery_id: string,
): Promise<StoredDelivery | undefined> {
  const row = await deliveriesOf(db, webhook)
    .selectAll()
    .where('delivery_id', '=', delivery_id)
    .where(isShown)
    .executeTakeFirst()
  return row && storedOf(row)
}

/** What came of an attempt. */
export type AttemptOutcome = Pick<
  StoredDelivery,
  | 'delivery_id'
  | 'status'
  | 'attempts'
  | 'next_ms'
  | 'attempt_ms'
  | 'status_code'
  | 'error'
  | 'duration_ms'
  | 'response'
>

/** Records what came of some attempts. An event that was accepted keeps no message, because it is stored anyway. */
export async function recordAttempts(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  outcomes: readonly AttemptOutcome[],
): Promise<void> {
  const rows = outcomes.map((outcome) => {
    const text = (value: string | null) => sql`cast(${value} as text)`
    const number = (value: number | null) => sql`cast(${value} as bigint)`
    const { delivery_id, status, attempts, next_ms, attempt_ms, status_code, error, duration_ms, response } =
      outcome
    return sql`(${sql.join([
      text(delivery_id),
      text(status),
      number(attempts),
      number(next_ms),
      number(attempt_ms),
      number(status_code),
      text(error),
      number(duration_ms),
      text(response),
    ])})`
  })
  const statement = sql`
    WITH seen (id, status, attempts, next_ms, attempt_ms, status_code, error, duration_ms, response) AS (
      VALUES ${sql.join(rows)}
    )
    UPDATE webhook_deliveries SET
      status = seen.status, attempts = seen.attempts, next_ms = seen.next_ms, attempt_ms = seen.attempt_ms,
      status_code = seen.status_code, error = seen.error, duration_ms = seen.duration_ms, response = seen.response,
      message = CASE WHEN seen.status = 'succeeded' AND type = 'event.created' THEN NULL ELSE message END
    FROM seen
    WHERE workspace_id = ${workspace_id} AND webhook_id = ${webhook_id} AND delivery_id = seen.id`
  await runDeclared(db, [], statement)
}

/** Which of some deliveries exist. */
export async function knownDeliveries(
  db: Kysely<DB>,
  webhook: WebhookKey,
  deliveryIds: readonly string[],
): Promise<Set<string>> {
  const known = new Set<string>()
  for (const some of inSlices(deliveryIds)) {
    const rows = await deliveriesOf(db, webhook)
      .select('delivery_id')
      .where('delivery_id', 'in', some)
      .execute()
    for (const { delivery_id } of rows) known.add(delivery_id)
  }
  return known
}

/** Replaces the given fields of some deliveries. */
export async function updateDeliveries(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  deliveryIds: readonly string[],
  change: Partial<Omit<StoredDelivery, 'delivery_id'>>,
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set(change)
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where('delivery_id', 'in', deliveryIds)
    .execute()
}

/** Makes all deliveries of a webhook due that wait for a later time. */
export async function makeRetriesDue(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  now_ms: number,
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ next_ms: now_ms })
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where('next_ms', '>', now_ms)
    .execute()
}

/**
 * Makes all deliveries of a webhook due that were tried last, or created, after an instant to come: the clock was set back.
 * @returns whether there were any
 */
export async function makeDueAfterStep(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  { now_ms, tried_after_ms }: { now_ms: number; tried_after_ms: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_deliveries')
    .set({ next_ms: now_ms })
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where('next_ms', '>', now_ms)
    .where(({ eb, fn }) => eb(fn.coalesce('attempt_ms', 'created_ms'), '>', tried_after_ms))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Deletes some deliveries of a webhook: those that wait to be sent (`pending`), or do not, and that were created before
 * an instant. Without a condition, of all.
 * @returns whether none of those is left
 */
export async function deleteDeliveries(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  { pending, before_ms }: { pending?: boolean; before_ms?: number },
): Promise<boolean> {
  const those = [sql`webhook_id = ${webhook_id}`]
  if (pending !== undefined) those.push(pending ? sql`next_ms IS NOT NULL` : sql`next_ms IS NULL`)
  if (before_ms !== undefined) those.push(sql`created_ms < ${before_ms}`)
  return await deleteSome(db, 'webhook_deliveries', workspace_id, sql`${sql.join(those, sql` AND `)}`)
}

/** Deletes some of what is about a customer, except that it was erased. @returns whether nothing is left */
export async function deleteDeliveriesAbout(
  db: Transaction<DB>,
  workspace_id: string,
  customer_id: string,
): Promise<boolean> {
  const those = sql<SqlBool>`customer_id = ${customer_id} AND type <> 'customer.erased'`
  return await deleteSome(db, 'webhook_deliveries', workspace_id, those)
}

/** Deletes what has not been sent about a customer: at most as much as the webhooks of a workspace can have pending. */
export async function deletePendingAbout(
  db: Transaction<DB>,
  workspace_id: string,
  customer_id: string,
): Promise<void> {
  await db
    .deleteFrom('webhook_deliveries')
    .where('workspace_id', '=', workspace_id)
    .where('customer_id', '=', customer_id)
    .where('next_ms', 'is not', null)
    .execute()
}

/** Deletes some of what is about a journey. @returns whether nothing is left */
export async function deleteDeliveriesOfJourney(
  db: Transaction<DB>,
  workspace_id: string,
  journey_id: string,
): Promise<boolean> {
  return await deleteSome(db, 'webhook_deliveries', workspace_id, sql`journey_id = ${journey_id}`)
}

/** Deliveries by (`created_at`, `delivery_id`), newest first. With a status a page ends after a number examined. */
export async function newestDeliveries(
  db: Kysely<DB>,
  webhook: WebhookKey,
  { status }: { status?: DeliveryStatus },
  page: Page,
): Promise<PageRows<StoredDelivery>> {
  const all = deliveriesOf(db, webhook)
  const keys = all
    .select(['created_ms as ms', 'delivery_id as id'])
    .select(deliveryBytes)
    .where(behind(page.after, 'created_ms', 'delivery_id'))
    .orderBy('created_ms', 'desc')
    .orderBy('delivery_id', 'desc')
  const read = async (ids: string[]) => {
    const rows = await all.selectAll().where('delivery_id', 'in', ids).where(isShown).execute()
    return rows.map((row) => [row.delivery_id, storedOf(row)] as const)
  }
  if (status === undefined) return await readPage(keys, page, read)
  const end = await walkEnd(keys)
  const matching = keys
    .where(unindexed(sql<SqlBool>`status = ${status}`))
    .where(upTo(end, 'created_ms', 'delivery_id'))
  return await readPage(matching, page, read, { end })
}

function storedOf({
  workspace_id: _,
  webhook_id: __,
  ...row
}: Selectable<WebhookDeliveries>): StoredDelivery {
  return { ...row, status: row.status as DeliveryStatus }
}
