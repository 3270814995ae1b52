import type { Kysely, Selectable, Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB, Webhooks } from '../../../generated/tables.ts'
import { CLOCKS_MS } from '../../domain/instants.ts'
import type { WebhookSecrets } from '../../domain/webhook-rotation.ts'

export type WebhookType = components['schemas']['WebhookType']

/** What a webhook is told, and where. */
export type WebhookSettings = {
  url: string
  description: string
  types: WebhookType[]
  /** Null: all. */
  journey_ids: string[] | null
  /** Null: all. */
  event_ids: string[] | null
  /** ISO 8601. */
  dropped_after: string | null
}

type DisabledReason = 'by_hand' | 'failing' | 'gone'

/** How far a webhook has been told, and how its receiver answers. */
export type WebhookProgress = {
  /** Nothing that was received or created before is told. */
  from_ms: number
  /** What was received before is told again, although it was told. */
  replay_ms: number | null
  /** Where reading goes on; null: at `from_ms`. That of journeys is set by a replay, which moves `from_ms`. */
  event_cursor: string | null
  customer_cursor: string | null
  /** The same for the messages about journeys, which wait until the standings include the events. */
  journey_cursor: string | null
  /** Who has entered a journey before has been looked at. */
  entered_ms: number
  /** Everything received before has been read. */
  told_ms: number
  /** Failed attempts in a row. */
  failures: number
  failing_since_ms: number | null
  success_ms: number | null
  /** Until when everything waits. */
  retry_ms: number | null
}

/** What identifies a webhook. */
export type WebhookKey = { workspace_id: string; webhook_id: string }

export type StoredWebhook = WebhookKey &
  WebhookSettings &
  WebhookSecrets &
  WebhookProgress & {
    is_enabled: boolean
    disabled_reason: DisabledReason | null
    created_ms: number
    updated_ms: number
  }

/** Creates a webhook that is told what happens from its creation on. */
export async function insertWebhook(
  db: Transaction<DB>,
  webhook: WebhookKey & WebhookSettings & Pick<StoredWebhook, 'secret' | 'customer_cursor' | 'created_ms'>,
): Promise<StoredWebhook> {
  const { created_ms, ...given } = webhook
  const row = await db
    .insertInto('webhooks')
    .values({
      ...columnsOf(given),
      is_enabled: 1,
      created_ms,
      updated_ms: created_ms,
      from_ms: created_ms,
      told_ms: created_ms,
      entered_ms: created_ms,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return storedOf(row)
}

/** The webhooks of a workspace, oldest first. They are limited in number. */
export async function webhooksOf(db: Kysely<DB>, workspaceId: string): Promise<StoredWebhook[]> {
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_ms')
    .orderBy('webhook_id')
    .execute()
  return rows.map(storedOf)
}

export async function findWebhook(
  db: Kysely<DB>,
  workspaceId: string,
  webhookId: string,
): Promise<StoredWebhook | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst()
  return row && storedOf(row)
}

/** Replaces the given fields, except the key: Citus sets none, not even to the same value. */
export async function updateWebhook(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  { workspace_id: _, webhook_id: __, ...change }: Partial<StoredWebhook>,
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set(columnsOf(change))
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .execute()
}

/** Deletes a webhook without deliveries. */
export async function deleteWebhook(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
): Promise<void> {
  await db
    .deleteFrom('webhooks')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .execute()
}

/** Makes other transactions that change a webhook wait for the end of this one. Call it before reading. */
export async function lockWebhook(
  db: Transaction<DB>,
  workspaceId: string,
  webhookId: string,
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set(({ ref }) => ({ updated_ms: ref('updated_ms') }))
    .where('workspace_id', '=', workspaceId)
    .where('webhook_id', '=', webhookId)
    .execute()
}

/** Thrown if a webhook was changed meanwhile, or another server works on it. */
export class WebhookMoved extends Error {}

/**
 * Replaces what the server that sends has read and seen.
 * @param owner whose lease must hold; undefined if there is one server
 * @throws {WebhookMoved}
 */
export async function advanceWebhook(
  db: Transaction<DB>,
  webhook: StoredWebhook,
  progress: Partial<WebhookProgress & Pick<StoredWebhook, 'is_enabled' | 'disabled_reason'>>,
  owner: string | undefined,
): Promise<void> {
  let query = db
    .updateTable('webhooks')
    .set({ updated_ms: webhook.updated_ms, ...columnsOf(progress) })
    .where('workspace_id', '=', webhook.workspace_id)
    .where('webhook_id', '=', webhook.webhook_id)
    .where('updated_ms', '=', webhook.updated_ms)
    .where('from_ms', '=', webhook.from_ms)
  if (owner !== undefined) query = query.where('lease_owner', '=', owner)
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow()
  if (numUpdatedRows !== 1n) throw new WebhookMoved()
}

/** A webhook, and which server works on it until when. */
export type LeasedWebhook = StoredWebhook & {
  lease_owner: string | null
  lease_until_ms: number | null
  /** Of its workspace. */
  retention_days: number | null
}

/** The webhooks of all workspaces. */
export async function allWebhooks(db: Kysely<DB>): Promise<LeasedWebhook[]> {
  const rows = await db
    .selectFrom('webhooks')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'webhooks.workspace_id')
    .selectAll('webhooks')
    .select('workspaces.retention_days')
    .where('workspaces.removed_ms', 'is', null)
    .execute()
  return rows.map(({ retention_days, ...row }) => ({
    ...storedOf(row),
    lease_owner: row.lease_owner,
    lease_until_ms: row.lease_until_ms,
    retention_days,
  }))
}

/** The latest end of a lease, if one that begins now ends at `until_ms`. A later one is from before a clock was set back. */
export function latestLease(until_ms: number): number {
  return until_ms + CLOCKS_MS
}

/** Reserves a webhook for a server until a time. @returns false if another one has it */
export async function leaseWebhook(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  { owner, now_ms, until_ms }: { owner: string; now_ms: number; until_ms: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhooks')
    .set({ lease_owner: owner, lease_until_ms: until_ms })
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where((eb) =>
      eb.or([
        eb('lease_owner', 'is', null),
        eb('lease_owner', '=', owner),
        eb('lease_until_ms', '<', now_ms),
        eb('lease_until_ms', '>', latestLease(until_ms)),
      ]),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Lets other servers work on a webhook. */
export async function releaseWebhook(
  db: Transaction<DB>,
  { workspace_id, webhook_id }: WebhookKey,
  owner: string,
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ lease_owner: null, lease_until_ms: null })
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where('lease_owner', '=', owner)
    .execute()
}

type Columns = Partial<Omit<Selectable<Webhooks>, 'lease_owner' | 'lease_until_ms'>>

/** Returns fields in the form of the table. */
function columnsOf<Fields extends Partial<StoredWebhook>>({
  types,
  journey_ids,
  event_ids,
  is_enabled,
  ...same
}: Fields) {
  return {
    ...same,
    ...(types !== undefined && { types: JSON.stringify(types) }),
    ...(journey_ids !== undefined && { journey_ids: jsonOrNull(journey_ids) }),
    ...(event_ids !== undefined && { event_ids: jsonOrNull(event_ids) }),
    ...(is_enabled !== undefined && { is_enabled: is_enabled ? 1 : 0 }),
  } as { [Name in keyof Fields & keyof Columns]: NonNullable<Columns[Name]> } & Columns
}

function jsonOrNull(list: readonly string[] | null): string | null {
  return list && JSON.stringify(list)
}

function storedOf(row: Selectable<Webhooks>): StoredWebhook {
  const { lease_owner: _, lease_until_ms: __, ...same } = row
  return {
    ...same,
    types: JSON.parse(row.types),
    journey_ids: row.journey_ids === null ? null : JSON.parse(row.journey_ids),
    event_ids: row.event_ids === null ? null : JSON.parse(row.event_ids),
    is_enabled: row.is_enabled === 1,
    disabled_reason: row.disabled_reason as DisabledReason | null,
  }
}
