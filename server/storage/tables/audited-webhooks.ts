import type { Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { changedFields } from '../../domain/changes.ts'
import { cursorText, type Position } from '../../domain/cursors.ts'
import { typeIdText } from '../../domain/identifiers.ts'
import type { WebhookSecrets } from '../../domain/webhook-rotation.ts'
import { type AuditedChange, type Authorship, insertAuditEntry } from './audit-log.ts'
import * as webhooks from './webhooks.ts'

// Changes of webhooks with their entries in the audit log, which hold no secret: not that of a webhook, nor what is in
// the query of its URL.

type StoredWebhook = webhooks.StoredWebhook

export async function createWebhook(
  db: Transaction<DB>,
  webhook: Parameters<typeof webhooks.insertWebhook>[1],
  author: Authorship,
): Promise<StoredWebhook> {
  const made = await webhooks.insertWebhook(db, webhook)
  await note(db, made, author, { action: 'webhook_created', after: audited(made) })
  return made
}

/** Replaces the given fields. Does nothing if nothing changes. */
export async function changeWebhook(
  db: Transaction<DB>,
  before: StoredWebhook,
  after: StoredWebhook,
  author: Authorship,
): Promise<void> {
  await webhooks.updateWebhook(db, before, after)
  const changes = changedFields(audited(before), audited(after))
  if (changes) await note(db, after, author, { action: 'webhook_updated', ...changes })
}

export async function rotateSecret(
  db: Transaction<DB>,
  webhook: StoredWebhook,
  secrets: WebhookSecrets,
  author: Authorship,
): Promise<void> {
  await webhooks.updateWebhook(db, webhook, { ...secrets, updated_ms: author.at_ms })
  await note(db, webhook, author, { action: 'webhook_secret_rotated' })
}

/** Lets a webhook be told again what happened since an instant. */
export async function replayWebhook(
  db: Transaction<DB>,
  webhook: StoredWebhook,
  from: { ms: number; text: string },
  author: Authorship,
): Promise<void> {
  const start = { from_ms: from.ms, told_ms: from.ms, event_cursor: null, customer_cursor: null }
  const { at_ms } = author
  // Where it was to begin: `from_ms` no longer says it.
  const journey_cursor = webhook.journey_cursor ?? cursorText(firstReceived(Math.min(webhook.from_ms, at_ms)))
  await webhooks.updateWebhook(db, webhook, {
    ...start,
    journey_cursor,
    replay_ms: at_ms,
    updated_ms: at_ms,
  })
  await note(db, webhook, author, { action: 'webhook_replayed', after: { from: from.text } })
}

/** The position before all events that are received from an instant on; their identifiers begin with 48 bits of it. */
function firstReceived(ms: number): Position {
  const id = Buffer.alloc(16)
  id.writeUIntBE(ms, 0, 6)
  return { ms, id: typeIdText('evt', id) }
}

/** Deletes a webhook without deliveries. */
export async function removeWebhook(
  db: Transaction<DB>,
  webhook: StoredWebhook,
  author: Authorship,
): Promise<void> {
  await webhooks.deleteWebhook(db, webhook)
  await note(db, webhook, author, { action: 'webhook_removed', before: audited(webhook) })
}

async function note(
  db: Transaction<DB>,
  webhook: StoredWebhook,
  author: Authorship,
  change: Omit<AuditedChange, 'subject'>,
) {
  const subject = { kind: 'webhook', id: webhook.webhook_id, name: new URL(webhook.url).host } as const
  await insertAuditEntry(db, webhook.workspace_id, author, { ...change, subject })
}

function audited(webhook: StoredWebhook) {
  const { description, types, journey_ids, event_ids, dropped_after, is_enabled: enabled } = webhook
  const { origin, pathname } = new URL(webhook.url)
  return { url: origin + pathname, description, types, journey_ids, event_ids, dropped_after, enabled }
}
