import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { cursorText } from '../domain/cursors.ts'
import { duration_ms } from '../domain/durations.ts'
import { instant_ms, instantOrNull, instantText } from '../domain/instants.ts'
import { parseJsonText } from '../domain/json-text.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { rotated } from '../domain/webhook-rotation.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase, Transaction } from '../storage/database.ts'
import * as audited from '../storage/tables/audited-webhooks.ts'
import * as deliveries from '../storage/tables/webhook-deliveries.ts'
import * as windows from '../storage/tables/webhook-windows.ts'
import {
  findWebhook,
  lockWebhook,
  type StoredWebhook,
  type WebhookSettings,
  webhooksOf,
} from '../storage/tables/webhooks.ts'
import { authorOf } from './author.ts'

type Webhook = components['schemas']['Webhook']
type Delivery = components['schemas']['Delivery']

/** Maximum webhooks of a workspace (contract: `webhook_limit`). */
const WEBHOOKS = 20

export const listWebhooks: Operation<'listWebhooks'> = async ({ workspaceId }, context) => {
  const db = context.storage.lists(context.reading)
  const data: Webhook[] = []
  for (const webhook of await webhooksOf(db, workspaceId)) data.push(await webhookBody(db, webhook, context))
  return { status: 200, body: { data } }
}

export const getWebhook: Operation<'getWebhook'> = async ({ workspaceId, path }, context) => {
  const db = context.storage.lists(context.reading)
  return {
    status: 200,
    body: await webhookBody(db, await existing(db, workspaceId, path.webhook_id), context),
  }
}

export const createWebhook: Operation<'createWebhook'> = async ({ workspaceId, body }, context) => {
  const { url, types, description = '', journey_ids = null, event_ids = null, dropped_after = null } = body
  const settings = { url, types, description, journey_ids, event_ids, dropped_after }
  assertWindow(settings)
  const webhook_id = context.newId('whk')
  const { secret, sealed } = context.webhooks.newSecret(webhook_id)
  await context.webhooks.assertAllowed(url, workspaceId)
  const customer_cursor = await lastCustomer(context)
  const webhook = await context.change(async (db) => {
    const given = { ...settings, workspace_id: workspaceId, webhook_id, secret: sealed }
    const row = { ...given, customer_cursor, created_ms: context.now() }
    const made = await audited.createWebhook(db, row, authorOf(context))
    if ((await webhooksOf(db, workspaceId)).length > WEBHOOKS) throw new Problem('webhook_limit')
    return await webhookBody(db, made, context)
  })
  return { status: 201, body: { webhook, secret } }
}

export const updateWebhook: Operation<'updateWebhook'> = async ({ workspaceId, path, body }, context) => {
  const { enabled, skip_missed, ...settings } = body
  if (settings.url !== undefined) await context.webhooks.assertAllowed(settings.url, workspaceId)
  const customer_cursor = await lastCustomer(context)
  const change = async (db: Transaction) => {
    const before = await lockedWebhook(db, workspaceId, path.webhook_id)
    // Once it is locked: what was made for it before this instant is stored, or will never be.
    const now_ms = context.now()
    const after: StoredWebhook = { ...before, ...settings, updated_ms: now_ms }
    assertWindow(after)
    if (enabled !== undefined) Object.assign(after, enabled ? enabledNow(before) : disabledNow(before))
    const isMoved = after.url !== before.url
    if (isMoved) Object.assign(after, NO_FAILURES)
    if (skip_missed) {
      Object.assign(after, startingAt(now_ms), { customer_cursor })
    }
    const isAll = !skip_missed || (await deletePending(db, after))
    // Before anything can be sent.
    if (!isAll && !before.is_enabled) return undefined
    await audited.changeWebhook(db, before, after, authorOf(context))
    // It goes on at once, not when the next retry was planned.
    if (after.is_enabled && (!before.is_enabled || isMoved) && !skip_missed)
      await deliveries.makeRetriesDue(db, before, now_ms)
    return { after, isAll, webhook: await webhookBody(db, after, context) }
  }
  let changed = await context.change(change)
  while (!changed) changed = await context.change(change)
  const { after, isAll, webhook } = changed
  if (!isAll) {
    await removePending(context, after)
    webhook.pending_deliveries = 0
  }
  context.webhooks.begin()
  return { status: 200, body: webhook }
}

export const removeWebhook: Operation<'removeWebhook'> = async ({ workspaceId, path }, context) => {
  const remove = async (db: Transaction) => {
    const webhook = await lockedWebhook(db, workspaceId, path.webhook_id)
    const author = authorOf(context)
    const isLast =
      (await deliveries.deleteDeliveries(db, webhook, {})) && (await windows.deleteWindows(db, webhook))
    if (isLast) await audited.removeWebhook(db, webhook, author)
    else if (webhook.is_enabled) {
      // Further transactions follow: a webhook that has been told a lot has hundreds of thousands of deliveries. Nothing
      // is to be sent or made for it meanwhile.
      const disabled = { ...webhook, ...disabledNow(webhook), updated_ms: author.at_ms }
      await audited.changeWebhook(db, webhook, disabled, author)
    }
    return isLast
  }
  for (let isRemoved = false; !isRemoved; ) isRemoved = await context.change(remove)
  return { status: 204 }
}

export const rotateWebhookSecret: Operation<'rotateWebhookSecret'> = async (request, context) => {
  const { workspaceId, path } = request
  const { secret, sealed } = context.webhooks.newSecret(path.webhook_id)
  const webhook = await context.change(async (db) => {
    const before = await lockedWebhook(db, workspaceId, path.webhook_id)
    const author = authorOf(context)
    await audited.rotateSecret(db, before, rotated(before, sealed, author.at_ms), author)
    return await webhookBody(db, await existing(db, workspaceId, path.webhook_id), context)
  })
  return { status: 200, body: { webhook, secret } }
}

export const testWebhook: Operation<'testWebhook'> = async ({ workspaceId, path }, context) => {
  const db = context.storage.lists(context.reading)
  const webhook = await existing(db, workspaceId, path.webhook_id)
  const { status_code, error, duration_ms, response } = await context.webhooks.test(webhook)
  return { status: 200, body: { status_code, error, duration_ms, response: shownTo(context, response) } }
}

export const replayWebhook: Operation<'replayWebhook'> = async ({ workspaceId, path, body }, context) => {
  const from_ms = Math.min(instant_ms(body.from), context.now())
  const known = await context.change((db) => lockedWebhook(db, workspaceId, path.webhook_id))
  // What it has not been told yet must not be left out, whenever it happened.
  const ms = Math.min(from_ms, await context.webhooks.untoldSince(known, context.reading))
  const webhook = await context.change(async (db) => {
    const before = await lockedWebhook(db, workspaceId, path.webhook_id)
    await audited.replayWebhook(db, before, { ms, text: instantText(from_ms) }, authorOf(context))
    return await webhookBody(db, await existing(db, workspaceId, path.webhook_id), context)
  })
  context.webhooks.begin()
  return { status: 200, body: webhook }
}

export const listWebhookDeliveries: Operation<'listWebhookDeliveries'> = async (request, context) => {
  const { workspaceId, path, query } = request
  const db = context.storage.lists(context.reading)
  const webhook = await existing(db, workspaceId, path.webhook_id)
  const page = await deliveries.newestDeliveries(db, webhook, query, pageOf(query, 'msg'))
  const rows = page.rows.map((row) => deliveryBody(context, row, messageOf(row)))
  return { status: 200, body: pageBody({ ...page, rows }) }
}

export const resendWebhookDelivery: Operation<'resendWebhookDelivery'> = async (request, context) => {
  const { workspaceId, path } = request
  const now_ms = context.now()
  const { webhook_id, delivery_id } = path
  const webhook = await existing(context.storage.db, workspaceId, webhook_id)
  const found = await deliveries.findDelivery(context.storage.db, webhook, delivery_id)
  if (!found) throw new Problem('delivery_not_found')
  const message =
    found.message ?? (await context.webhooks.eventMessage(workspaceId, found.subject, context.reading))
  if (message === undefined) throw new Problem('event_removed')
  const due = { status: 'pending', next_ms: now_ms, attempts: 0, message } as const
  const delivery = await context.change(async (db) => {
    await lockedWebhook(db, workspaceId, webhook_id)
    const before = await deliveries.findDelivery(db, webhook, delivery_id)
    if (!before) throw new Problem('delivery_not_found')
    await deliveries.updateDeliveries(db, webhook, [delivery_id], due)
    return { ...before, ...due }
  })
  context.webhooks.begin()
  return { status: 200, body: deliveryBody(context, delivery, parseJsonText(message)) }
}

/** @throws {Problem} `webhook_not_found` */
async function existing(
  db: ReadingDatabase | Transaction,
  workspaceId: string,
  webhookId: string,
): Promise<StoredWebhook> {
  const webhook = await findWebhook(db, workspaceId, webhookId)
  if (!webhook) throw new Problem('webhook_not_found')
  return webhook
}

async function lockedWebhook(db: Transaction, workspaceId: string, webhookId: string) {
  await lockWebhook(db, workspaceId, webhookId)
  return await existing(db, workspaceId, webhookId)
}

/** @throws {Problem} `dropped_after_missing` */
function assertWindow({ types, dropped_after }: WebhookSettings) {
  if (!types.includes('journey.dropped')) return
  if (dropped_after === null || duration_ms(dropped_after) === 0) throw new Problem('dropped_after_missing')
}

/** The state of a webhook whose receiver was not tried yet. */
const NO_FAILURES = { failures: 0, failing_since_ms: null, retry_ms: null } as const

/** What enabling changes; nothing if it is enabled. */
function enabledNow({ is_enabled }: StoredWebhook): Partial<StoredWebhook> {
  if (is_enabled) return {}
  return { is_enabled: true, disabled_reason: null, ...NO_FAILURES }
}

/** What disabling changes; nothing if it is disabled. */
function disabledNow({ is_enabled }: StoredWebhook): Partial<StoredWebhook> {
  return is_enabled ? { is_enabled: false, disabled_reason: 'by_hand' } : {}
}

/** Where reading begins of what has happened since an instant. */
function startingAt(ms: number) {
  const cursors = { event_cursor: null, customer_cursor: null, journey_cursor: null }
  return { from_ms: ms, replay_ms: null, told_ms: ms, entered_ms: ms, ...cursors }
}

/** The cursor after all customers that exist, so that nobody has to walk over them. */
async function lastCustomer({ storage, reading }: Context): Promise<string> {
  const { end } = await storage.arrivedCustomers(reading)
  return cursorText(end)
}

/** Removes what a webhook had not been told when it was changed, some at a time, while more may already be made. */
async function removePending(context: Context, webhook: StoredWebhook) {
  for (let isAll = false; !isAll; ) isAll = await context.change((db) => deletePending(db, webhook))
}

function deletePending(db: Transaction, webhook: StoredWebhook): Promise<boolean> {
  return deliveries.deleteDeliveries(db, webhook, { pending: true, before_ms: webhook.updated_ms })
}

/** The message of a delivery; null for an event that was told: it is stored elsewhere. */
function messageOf({ message }: deliveries.StoredDelivery): Delivery['message'] {
  return message === null ? null : parseJsonText(message)
}

/** What a receiver answered, for people only: a key may belong to a program that must not see it. */
function shownTo({ caller }: Context, response: string | null): string | null {
  return caller.kind === 'person' ? response : null
}

function deliveryBody(
  context: Context,
  row: deliveries.StoredDelivery,
  message: Delivery['message'],
): Delivery {
  const { delivery_id, type, status, attempts, created_ms, next_ms, attempt_ms } = row
  const { status_code, error, duration_ms, response } = row
  return {
    delivery_id,
    type,
    subject_id: type === 'event.created' ? row.subject : row.customer_id,
    status,
    attempts,
    created_at: instantText(created_ms),
    next_attempt_at: instantOrNull(next_ms),
    last_attempt:
      attempt_ms === null
        ? null
        : {
            at: instantText(attempt_ms),
            status_code,
            error: error as components['schemas']['AttemptError'],
            duration_ms: duration_ms ?? 0,
            response: shownTo(context, response),
          },
    message,
  }
}

/** After a change it is read in its transaction: what is read later may fail, although the change is stored. */
async function webhookBody(
  db: ReadingDatabase | Transaction,
  webhook: StoredWebhook,
  context: Context,
): Promise<Webhook> {
  const { webhook_id, url, description, types, journey_ids, event_ids, dropped_after } = webhook
  return {
    webhook_id,
    url,
    description,
    types,
    journey_ids,
    event_ids,
    dropped_after,
    enabled: webhook.is_enabled,
    disabled_reason: webhook.disabled_reason,
    pending_deliveries: await deliveries.countPending(db, webhook),
    is_lagging: await context.webhooks.isLagging(db, webhook),
    failing_since: instantOrNull(webhook.failing_since_ms),
    next_attempt_at: instantOrNull(webhook.retry_ms),
    last_success_at: instantOrNull(webhook.success_ms),
    created_at: instantText(webhook.created_ms),
    updated_at: instantText(webhook.updated_ms),
  }
}
