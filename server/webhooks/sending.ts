import type { KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { components } from '../../generated/contract.ts'
import { DAY_MS } from '../domain/durations.ts'
import { replacedSecrets } from '../domain/webhook-rotation.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import type { ServedStorage } from '../storage/storage.ts'
import {
  type AttemptOutcome,
  dueDeliveries,
  makeRetriesDue,
  nextDelivery,
  recordAttempts,
  type StoredDelivery,
} from '../storage/tables/webhook-deliveries.ts'
import { advanceWebhook, type StoredWebhook, type WebhookProgress } from '../storage/tables/webhooks.ts'
import { type AttemptResult, isGivenUp, type Outcome, outcomeOf, retryWait } from './retries.ts'
import type { RequestSender } from './safe-request.ts'
import type { SecretBox } from './secret-box.ts'
import { signatureHeaders, signingKey } from './signature.ts'

export type SendingOptions = {
  storage: ServedStorage
  now: () => number
  /** Whose lease must hold; undefined if there is one server. */
  owner: string | undefined
  sender: Pick<RequestSender, 'send'>
  secrets: SecretBox | undefined
  /** Of this version, for `user-agent`. */
  version: string
  onAttempt: (isSuccess: boolean) => void
  /** Waits while ingestion needs the main thread. */
  pace: () => Promise<void>
  /** Aborted when the server stops. */
  signal: AbortSignal
}

/** Requests to one webhook at once; one while its receiver fails. */
const AT_ONCE = 4

/** Maximum deliveries read at a time, unless they are large, and how long sending them may take. */
const BATCH = 500
const BATCH_MS = 5_000

/** How long the results of attempts may wait to be recorded together. */
const RECORD_MS = 200

/** After so many failures in a row everything waits, at first so long, then twice as long each time, up to the longest. */
const FAILURES_BEFORE_WAIT = 10
const FIRST_WAIT_MS = 5_000
const LONGEST_WAIT_MS = 30 * 60_000

/** After so long without a success a webhook is disabled. */
const FAILING_MS = 5 * DAY_MS

/** The progress that attempts change. */
type Health = Pick<WebhookProgress, 'failures' | 'failing_since_ms' | 'success_ms' | 'retry_ms'> &
  Pick<StoredWebhook, 'is_enabled' | 'disabled_reason'>

/** An attempt in the form of the contract. */
export type Attempt = components['schemas']['WebhookAttempt']

/**
 * Sends the deliveries of a webhook that are due.
 * @returns whether there may be more
 */
export async function sendDue(webhook: StoredWebhook, options: SendingOptions): Promise<boolean> {
  const { storage, now } = options
  const { retry_ms, failures } = webhook
  if (retry_ms !== null && retry_ms > now()) return false
  const isProbe = failures >= FAILURES_BEFORE_WAIT
  const { rows: due, next } = isProbe
    ? { rows: await probeOf(webhook, options), next: null }
    : await dueDeliveries(storage.db, webhook, now(), BATCH)
  if (due.length === 0) return false
  const batch = new Batch(webhook, options, isProbe)
  await batch.send(due)
  return batch.isHealthy && next !== null
}

/**
 * One delivery that shows whether a receiver works again: in turns one that has failed and one that was never sent, because
 * the fault may be that of the messages.
 */
async function probeOf(webhook: StoredWebhook, { storage }: SendingOptions): Promise<StoredDelivery[]> {
  const isRetried = webhook.failures % 2 === 0
  const probe =
    (await nextDelivery(storage.db, webhook, { isRetried })) ??
    (await nextDelivery(storage.db, webhook, { isRetried: !isRetried }))
  return probe ? [probe] : []
}

/** Some deliveries of a webhook, and how its receiver does meanwhile. */
class Batch {
  readonly #webhook: StoredWebhook
  readonly #options: SendingOptions
  readonly #isProbe: boolean
  readonly #health: Health
  readonly #keys: KeyObject[]
  #outcomes: AttemptOutcome[] = []
  #isStopped = false

  constructor(webhook: StoredWebhook, options: SendingOptions, isProbe: boolean) {
    this.#webhook = webhook
    this.#options = options
    this.#isProbe = isProbe
    this.#keys = signingKeys(webhook, options)
    const { failures, failing_since_ms, success_ms, is_enabled, disabled_reason } = webhook
    this.#health = { failures, failing_since_ms, success_ms, retry_ms: null, is_enabled, disabled_reason }
  }

  /** Whether the receiver has not asked for a pause, by what it says or by failing. */
  get isHealthy(): boolean {
    return this.#health.retry_ms === null && this.#health.is_enabled
  }

  async send(due: readonly StoredDelivery[]): Promise<void> {
    const { signal } = this.#options
    const until_ms = performance.now() + BATCH_MS
    const waiting = due[Symbol.iterator]()
    const isOver = () => {
      return signal.aborted || this.#isStopped || !this.isHealthy || performance.now() > until_ms
    }
    const sendSome = async (isFirst: boolean) => {
      for (const delivery of waiting) {
        await this.#sendOne(delivery)
        await this.#options.pace()
        // While the receiver fails, one at a time.
        if (isOver() || (!isFirst && this.#health.failures > 0)) return
      }
    }
    const lanes = this.#health.failures > 0 ? 1 : AT_ONCE
    const sending = Promise.all(Array.from({ length: lanes }, (_, index) => sendSome(index === 0)))
    let isSent = false
    const sent = sending.finally(() => {
      isSent = true
    })
    try {
      while (!isSent) {
        await Promise.race([sent, sleep(RECORD_MS)])
        await this.#record()
      }
    } finally {
      // Nothing more is sent that could not be recorded.
      this.#isStopped = true
      await sent
    }
    await this.#record()
  }

  async #sendOne(delivery: StoredDelivery) {
    const { now, onAttempt, signal } = this.#options
    const message = { id: delivery.delivery_id, text: delivery.message ?? '' }
    const result = await sendSigned(this.#webhook, message, this.#keys, this.#options)
    const now_ms = now()
    const outcome = outcomeOf(result, now_ms)
    const isSuccess = outcome.kind === 'success'
    // The server stops, and has cut the request: not a failure of the receiver.
    if (signal.aborted && !isSuccess) return
    onAttempt(isSuccess)
    if (isSuccess) this.#noteSuccess(now_ms)
    else this.#noteFailure(outcome, now_ms)
    this.#outcomes.push({
      delivery_id: delivery.delivery_id,
      attempt_ms: now_ms,
      ...attemptOf(result, now_ms),
      ...this.#nextOf(delivery, outcome, now_ms),
    })
  }

  #nextOf(
    { attempts: before, created_ms }: StoredDelivery,
    outcome: Outcome,
    now_ms: number,
  ): Pick<AttemptOutcome, 'status' | 'attempts' | 'next_ms'> {
    // While all fail, it is not the fault of a message.
    const attempts = this.#isProbe && outcome.kind !== 'success' ? before : before + 1
    if (outcome.kind === 'success') return { status: 'succeeded', attempts, next_ms: null }
    if (isGivenUp({ attempts, created_ms }, this.#health.success_ms))
      return { status: 'failed', attempts, next_ms: null }
    const asked_ms = outcome.kind === 'slow_down' ? outcome.retryAfter_ms : undefined
    return {
      status: 'pending',
      attempts,
      next_ms: now_ms + retryWait(Math.max(attempts, 1), asked_ms, Math.random()),
    }
  }

  #noteSuccess(now_ms: number) {
    this.#health.failures = 0
    this.#health.failing_since_ms = null
    this.#health.success_ms = now_ms
  }

  #noteFailure(outcome: Outcome, now_ms: number) {
    const health = this.#health
    health.failures += 1
    health.failing_since_ms ??= now_ms
    if (outcome.kind === 'gone') Object.assign(health, { is_enabled: false, disabled_reason: 'gone' })
    if (now_ms - health.failing_since_ms >= FAILING_MS && health.is_enabled)
      Object.assign(health, { is_enabled: false, disabled_reason: 'failing' })
    const excess = health.failures - FAILURES_BEFORE_WAIT
    if (excess >= 0 || outcome.kind === 'slow_down') {
      const wait_ms = Math.min(FIRST_WAIT_MS * 2 ** Math.max(excess, 0), LONGEST_WAIT_MS)
      const asked_ms = (outcome.kind === 'slow_down' && outcome.retryAfter_ms) || 0
      health.retry_ms = now_ms + Math.max(wait_ms, asked_ms)
    }
  }

  /** Writes what came of the attempts since the last time. */
  async #record() {
    const outcomes = this.#outcomes
    if (outcomes.length === 0) return
    this.#outcomes = []
    const { storage, owner, now } = this.#options
    await inTransaction(storage.db, async (db) => {
      await advanceWebhook(db, this.#webhook, this.#health, owner)
      await recordAttempts(db, this.#webhook, outcomes)
      if (this.#isProbe && this.#health.failures === 0) await makeRetriesDue(db, this.#webhook, now())
    })
  }
}

type Sending = Pick<SendingOptions, 'secrets' | 'sender' | 'now' | 'version'>

/** Sends a message once, signed with the secrets of a webhook. */
export async function attempt(
  webhook: StoredWebhook,
  message: { id: string; text: string },
  options: Sending,
): Promise<AttemptResult> {
  return await sendSigned(webhook, message, signingKeys(webhook, options), options)
}

async function sendSigned(
  { url, workspace_id }: StoredWebhook,
  { id, text }: { id: string; text: string },
  keys: readonly KeyObject[],
  { sender, now, version }: Sending,
): Promise<AttemptResult> {
  if (keys.length === 0) return { error: 'secret_unreadable', ms: 0 }
  const body = Buffer.from(text)
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Cairn/${version}`,
    ...signatureHeaders({ id, attempted_ms: now(), body, keys }),
  }
  return await sender.send({ workspaceId: workspace_id, url, headers, body })
}

/** The keys of a webhook that sign now, the current one first; empty if this server cannot read them. */
function signingKeys(webhook: StoredWebhook, { secrets: box, now }: Sending): KeyObject[] {
  const { webhook_id, secret } = webhook
  return [secret, ...replacedSecrets(webhook, now())].flatMap((sealed) => {
    try {
      const opened = box?.open(sealed, webhook_id)
      return typeof opened === 'object' ? signingKey(opened.secret) : []
    } catch {
      return []
    }
  })
}

/** Returns an attempt in the form of the contract. */
export function attemptOf(result: AttemptResult, now_ms: number): Attempt {
  const { ms: duration_ms } = result
  if ('error' in result) return { status_code: null, error: result.error, duration_ms, response: null }
  const outcome = outcomeOf(result, now_ms)
  if (outcome.kind === 'success')
    return { status_code: result.status, error: null, duration_ms, response: null }
  return { status_code: result.status, error: outcome.error, duration_ms, response: result.response || null }
}
