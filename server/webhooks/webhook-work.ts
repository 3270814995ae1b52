import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../domain/durations.ts'
import { FairQueue, type Owner } from '../domain/fair-queue.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import { deleteDeliveries, isFull } from '../storage/tables/webhook-deliveries.ts'
import {
  allWebhooks,
  findWebhook,
  type LeasedWebhook,
  latestLease,
  leaseWebhook,
  releaseWebhook,
  type StoredWebhook,
  WebhookMoved,
} from '../storage/tables/webhooks.ts'
import { Unavailable } from '../storage/unavailable.ts'
import { followClock } from './clock-steps.ts'
import { type FanOutOptions, tellCustomers, tellEvents } from './fan-out.ts'
import { tellDropped, tellEntries } from './journey-entries.ts'
import { isToldOfJourneys, tellSteps } from './journey-messages.ts'
import { tellRisingRefusals } from './rising-refusals.ts'
import type { RequestSender } from './safe-request.ts'
import { type SendingOptions, sendDue } from './sending.ts'
import { SpareTime } from './spare-time.ts'

export type WebhookWorkOptions = Omit<SendingOptions, 'owner' | 'onAttempt' | 'signal' | 'pace'> & {
  sender: Pick<RequestSender, 'send' | 'close'>
  /** Whether other servers may work on the same store. */
  isShared: boolean
  /** Called when the work on a webhook fails. It is retried. */
  onFailure: (error: Error, webhookId: string) => void
}

export type WebhookStatistics = {
  succeeded: number
  failed: number
  enabled: number
  failing: number
  disabled: number
}

/** Interval of looks for something to do, and the least time between two. */
const LOOK_MS = 1_000
const LEAST_PAUSE_MS = 100

/** How long requests in flight have when the server stops. */
const CLOSING_MS = 1_000

/** Webhooks that are worked on at the same time, in all and of one workspace: their receivers may be slow. */
const AT_ONCE = 64
const AT_ONCE_OF_WORKSPACE = 16

type Waiting = { owner: Owner; webhook: LeasedWebhook }

/** How long a webhook is worked on before others have their turn. */
const TURN_MS = 5_000

/** How long a server has a webhook for itself, and how early it extends that. */
const LEASE_MS = 10_000
const EXTEND_MS = 6_000

const RISING_MS = 60_000

/** How long deliveries are kept, unless events are kept for less, and how often older ones are removed. */
const KEPT_DAYS = 30
const SWEEP_MS = 60 * 60_000

/** Tells webhooks what happens, and sends it. All its state is in the store, so that any server goes on with it. */
export class WebhookWork {
  readonly #options: WebhookWorkOptions
  /** Of the leases of this server. */
  readonly #owner = randomUUID()
  readonly #closing = new AbortController()
  readonly #waiting = new FairQueue<Waiting>({
    perCaller: 1,
    inAll: Number.POSITIVE_INFINITY,
    inProgress: AT_ONCE_OF_WORKSPACE,
  })
  readonly #turns = new Set<Promise<void>>()
  /** Webhooks that wait or have their turn. */
  readonly #busy = new Set<string>()
  readonly #spareTime = new SpareTime()
  readonly #leases = new Map<string, LeasedWebhook>()
  /** When rejections were last looked at, by webhook. */
  readonly #risingSince = new Map<string, number>()
  /** Number of written groups when a webhook had last read everything. */
  readonly #readUntil = new Map<string, string>()
  readonly #statistics: WebhookStatistics = { succeeded: 0, failed: 0, enabled: 0, failing: 0, disabled: 0 }
  readonly #ended: Promise<void>
  #groups = 0
  #swept_ms = Number.NEGATIVE_INFINITY
  /** When the last look began. */
  #looked_ms = Number.NEGATIVE_INFINITY
  /** Webhooks that go by the clock as it is, since the start or since it was set back. */
  readonly #following = new Set<string>()
  /** Ends the pause after a look, also one to come. */
  #waking = new AbortController()

  constructor(options: WebhookWorkOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  /** To be called when rows were stored by this process. */
  noteArrival(rows: number): void {
    this.#groups += 1
    this.#spareTime.noteRows(rows)
    if (this.#statistics.enabled > 0) this.begin()
  }

  /** Looks for something to do now. */
  begin(): void {
    this.#waking.abort()
  }

  statistics(): Readonly<WebhookStatistics> {
    return this.#statistics
  }

  /** Records what has been sent, and ends. Requests in flight have a second; others will send them again. */
  async close(): Promise<void> {
    const { sender } = this.#options
    this.#closing.abort()
    this.#waking.abort()
    const timer = setTimeout(() => sender.close(), CLOSING_MS)
    await this.#ended
    clearTimeout(timer)
    sender.close()
  }

  async #run() {
    while (!this.#closing.signal.aborted) {
      const began_ms = performance.now()
      this.#waking = new AbortController()
      await this.#look().catch((error) => this.#report(error, ''))
      // Ends at once if there is something to do.
      await sleep(LOOK_MS, undefined, { signal: this.#waking.signal, ref: false }).catch(() => {})
      const rest_ms = LEAST_PAUSE_MS - (performance.now() - began_ms)
      if (rest_ms > 0 && !this.#closing.signal.aborted) await sleep(rest_ms)
    }
    await Promise.all(this.#turns)
    for (const webhook of this.#leases.values()) await this.#release(webhook).catch(() => {})
  }

  async #look() {
    this.#noteClock()
    const all = await allWebhooks(this.#options.storage.db)
    const enabled = all.filter(({ is_enabled }) => is_enabled)
    this.#statistics.enabled = enabled.length
    this.#statistics.failing = enabled.filter(({ failing_since_ms }) => failing_since_ms !== null).length
    this.#statistics.disabled = all.length - enabled.length
    for (const webhook of enabled) {
      // Requests may take longer than a lease.
      if (this.#busy.has(webhook.webhook_id) && this.#leases.has(webhook.webhook_id))
        await this.#lease(webhook)
      if (!this.#busy.has(webhook.webhook_id) && !this.#isOfAnother(webhook)) {
        this.#busy.add(webhook.webhook_id)
        this.#waiting.add({
          owner: { workspaceId: webhook.workspace_id, caller: webhook.webhook_id },
          webhook,
        })
      }
    }
    this.#beginTurns()
    await this.#sweep(all)
  }

  /** If the clock was set back, all that was planned by it is done again. */
  #noteClock() {
    const now_ms = this.#options.now()
    if (now_ms < this.#looked_ms) {
      this.#following.clear()
      this.#risingSince.clear()
      this.#swept_ms = Number.NEGATIVE_INFINITY
    }
    this.#looked_ms = now_ms
  }

  /** Begins as many turns as there may be at once, of one workspace after another. */
  #beginTurns() {
    while (this.#turns.size < AT_ONCE && !this.#closing.signal.aborted) {
      const next = this.#waiting.begin()
      if (!next) return
      const { webhook } = next
      const turn = this.#turn(webhook)
        .catch((error) => this.#report(error, webhook.webhook_id))
        .finally(() => {
          this.#turns.delete(turn)
          this.#busy.delete(webhook.webhook_id)
          this.#waiting.end(next)
          this.#beginTurns()
        })
      this.#turns.add(turn)
    }
  }

  #isOfAnother({ lease_owner, lease_until_ms }: LeasedWebhook): boolean {
    if (!this.#options.isShared || lease_owner === null || lease_owner === this.#owner) return false
    const now_ms = this.#options.now()
    return (lease_until_ms ?? 0) >= now_ms && (lease_until_ms ?? 0) <= latestLease(now_ms + LEASE_MS)
  }

  /** Works on a webhook until nothing is left to do now. */
  async #turn(found: LeasedWebhook) {
    const until_ms = performance.now() + TURN_MS
    if (!this.#following.has(found.webhook_id)) {
      await followClock(found, this.#options)
      this.#following.add(found.webhook_id)
    }
    const first = await this.#held(found)
    if (!first) return
    let isTelling = await this.#tell(first).catch(async (error) => {
      // What was told before does not wait for what cannot be read.
      const webhook = this.#closing.signal.aborted ? undefined : await this.#held(found)
      if (webhook) await this.#send(webhook)
      throw error
    })
    for (let isMore = true; isMore && !this.#closing.signal.aborted; isTelling = true) {
      // Others have their turn first.
      if (performance.now() > until_ms) return this.begin()
      const webhook = await this.#held(found)
      if (!webhook) return
      // What was read before is sent while more is read.
      const [isSent, isTold] = await both(this.#send(webhook), isTelling ? this.#tell(webhook) : false)
      isMore = isSent || (isTold && (webhook.retry_ms ?? 0) <= this.#options.now())
    }
  }

  /** Returns a webhook as it is now; undefined if it is disabled, or another server works on it. */
  async #held(found: LeasedWebhook): Promise<StoredWebhook | undefined> {
    if (!(await this.#lease(found))) return undefined
    const webhook = await findWebhook(this.#options.storage.db, found.workspace_id, found.webhook_id)
    return webhook?.is_enabled ? webhook : undefined
  }

  /** Sends what is due. @returns whether there may be more */
  async #send(webhook: StoredWebhook): Promise<boolean> {
    return await sendDue(webhook, {
      ...this.#options,
      owner: this.#ownerOf(),
      signal: this.#closing.signal,
      pace: () => this.#spareTime.wait(),
      onAttempt: (isSuccess) => {
        this.#statistics[isSuccess ? 'succeeded' : 'failed'] += 1
      },
    })
  }

  /** Reads what has happened. @returns whether there may be more */
  async #tell(webhook: StoredWebhook): Promise<boolean> {
    const { storage, now } = this.#options
    const { webhook_id, workspace_id, updated_ms } = webhook
    if (await isFull(storage.db, webhook)) return false
    const reading = { caller: 'webhooks', workspaceId: workspace_id, signal: this.#closing.signal }
    const options: FanOutOptions = { storage, now, owner: this.#ownerOf(), reading }
    let isMore = false
    const state = `${this.#groups} ${updated_ms}`
    if (this.#options.isShared || isToldOfJourneys(webhook) || this.#readUntil.get(webhook_id) !== state) {
      for (const tell of [tellEvents, tellCustomers, tellSteps, tellEntries])
        isMore = (await tell(webhook, options)) || isMore
      if (!isMore) this.#readUntil.set(webhook_id, state)
    }
    isMore = (await tellDropped(webhook, options)) || isMore
    const since_ms = this.#risingSince.get(webhook_id) ?? Number.NEGATIVE_INFINITY
    if (now() - since_ms >= RISING_MS) {
      await tellRisingRefusals(webhook, options)
      this.#risingSince.set(webhook_id, now())
    }
    return isMore
  }

  /** @returns false if another server works on it */
  async #lease(webhook: LeasedWebhook): Promise<boolean> {
    const { storage, now, isShared } = this.#options
    if (!isShared) return true
    const now_ms = now()
    const held = this.#leases.get(webhook.webhook_id)
    if (held && (held.lease_until_ms ?? 0) - now_ms > EXTEND_MS) return true
    const until_ms = now_ms + LEASE_MS
    const lease = { owner: this.#owner, now_ms, until_ms }
    const isLeased = await inTransaction(storage.db, (db) => leaseWebhook(db, webhook, lease))
    if (isLeased) this.#leases.set(webhook.webhook_id, { ...webhook, lease_until_ms: until_ms })
    else this.#leases.delete(webhook.webhook_id)
    return isLeased
  }

  async #release(webhook: LeasedWebhook) {
    await inTransaction(this.#options.storage.db, (db) => releaseWebhook(db, webhook, this.#owner))
  }

  #ownerOf(): string | undefined {
    return this.#options.isShared ? this.#owner : undefined
  }

  /** Removes old deliveries, once an hour. */
  async #sweep(webhooks: readonly LeasedWebhook[]) {
    const { storage, now } = this.#options
    if (now() - this.#swept_ms < SWEEP_MS) return
    this.#swept_ms = now()
    for (const webhook of webhooks) {
      const days = Math.min(webhook.retention_days ?? KEPT_DAYS, KEPT_DAYS)
      const old = { pending: false, before_ms: now() - days * DAY_MS }
      for (let isAll = false; !isAll && !this.#closing.signal.aborted; ) {
        isAll = await inTransaction(storage.db, (db) => deleteDeliveries(db, webhook, old))
      }
    }
  }

  #report(error: unknown, webhookId: string) {
    const isExpected =
      error instanceof WebhookMoved ||
      (error instanceof Unavailable && error.reason !== 'storage_unavailable') ||
      this.#closing.signal.aborted
    if (!isExpected)
      this.#options.onFailure(error instanceof Error ? error : new Error(String(error)), webhookId)
  }
}

/** Returns both values once both are there. @throws the first error, when neither goes on any more */
async function both<One, Other>(one: Promise<One>, other: Other | Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return await Promise.all([one, other])
}
