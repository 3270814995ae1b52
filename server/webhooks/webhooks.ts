import type { components } from '../../generated/contract.ts'
import { DAY_MS } from '../domain/durations.ts'
import { newId } from '../domain/identifiers.ts'
import { instantText } from '../domain/instants.ts'
import { parseJsonText } from '../domain/json-text.ts'
import { eventMessage } from '../domain/webhook-messages.ts'
import { Problem } from '../problems.ts'
import type { Reading, ReadingDatabase, Transaction } from '../storage/database.ts'
import { agedBefore } from '../storage/removals/retention.ts'
import type { ServedStorage } from '../storage/storage.ts'
import type { StoredWebhook } from '../storage/tables/webhooks.ts'
import { untoldSince } from './fan-out.ts'
import type { RequestSender } from './safe-request.ts'
import type { SecretBox } from './secret-box.ts'
import { type Attempt, attempt, attemptOf } from './sending.ts'
import { newWebhookSecret } from './signature.ts'

export type WebhooksOptions = {
  storage: ServedStorage
  sender: RequestSender
  /** Undefined if the server has no key. */
  secrets: SecretBox | undefined
  now: () => number
  version: string
  /** Looks for something to do now. */
  begin: () => void
}

/** What the operations on webhooks need besides the store. */
export class Webhooks {
  readonly #options: WebhooksOptions
  /** Those that run, by webhook. */
  readonly #tests = new Map<string, Promise<Attempt>>()

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  /** Makes a secret, as its owner gets it and as it is stored. @throws {Problem} `encryption_key_missing` */
  newSecret(webhookId: string): { secret: string; sealed: string } {
    const { secrets } = this.#options
    if (!secrets) throw new Problem('encryption_key_missing')
    const secret = newWebhookSecret()
    return { secret, sealed: secrets.seal(secret, webhookId) }
  }

  /** Makes the message about an event again; undefined if the event was removed. */
  async eventMessage(workspaceId: string, id: string, reading: Reading): Promise<string | undefined> {
    const { events } = this.#options.storage
    const { bytes } = await events.newestEvents(workspaceId, { id }, { limit: 1 }, reading)
    const { data }: components['schemas']['EventPage'] = parseJsonText(new TextDecoder().decode(bytes))
    return data[0] && eventMessage(data[0])
  }

  /** Returns since when a webhook has not been told everything; Infinity if it is told neither events nor customers. */
  async untoldSince(webhook: StoredWebhook, reading: Reading): Promise<number> {
    return await untoldSince(webhook, { storage: this.#options.storage, reading })
  }

  /** @throws {Problem} `webhook_url_not_allowed` if messages to a URL would not be sent */
  async assertAllowed(url: string, workspaceId: string): Promise<void> {
    const fault = await this.#options.sender.findUrlFault(url, workspaceId)
    if (fault) throw new Problem('webhook_url_not_allowed', { detail: URL_FAULTS[fault] })
  }

  /** Sends a message that says nothing. Tests of a webhook at the same time are one, so that nobody floods a receiver. */
  async test(webhook: StoredWebhook): Promise<Attempt> {
    const { webhook_id } = webhook
    const running =
      this.#tests.get(webhook_id) ?? this.#test(webhook).finally(() => this.#tests.delete(webhook_id))
    this.#tests.set(webhook_id, running)
    return await running
  }

  async #test(webhook: StoredWebhook): Promise<Attempt> {
    const { now } = this.#options
    const { webhook_id } = webhook
    const message = { type: 'webhook.test', timestamp: instantText(now()), data: { webhook_id } }
    const sent = { id: newId('msg'), text: JSON.stringify(message) }
    const result = await attempt(webhook, sent, this.#options)
    return attemptOf(result, now())
  }

  /** Whether retention will remove events within a day that a webhook has not been told. */
  async isLagging(
    db: ReadingDatabase | Transaction,
    { workspace_id, journey_ids, types, told_ms }: StoredWebhook,
  ): Promise<boolean> {
    if (!types.includes('event.created')) return false
    const workspace = await db
      .selectFrom('workspaces')
      .select('retention_days')
      .where('workspace_id', '=', workspace_id)
      .executeTakeFirst()
    let journeys = db
      .selectFrom('journeys')
      .select(({ fn }) => fn.min('retention_days').as('retention_days'))
      .where('workspace_id', '=', workspace_id)
    if (journey_ids) journeys = journeys.where('journey_id', 'in', journey_ids)
    const days = [workspace, await journeys.executeTakeFirst()].flatMap((row) => row?.retention_days ?? [])
    return days.length > 0 && told_ms < agedBefore(Math.min(...days), this.#options.now() + DAY_MS)
  }

  begin(): void {
    this.#options.begin()
  }
}

const ALLOW = 'The operator can allow networks with CAIRN_WEBHOOK_ALLOW.'

const URL_FAULTS = {
  invalid_url: 'Send an https URL, for example https://hooks.example.com/cairn.',
  scheme: 'Send an https URL.',
  credentials: 'Leave out the user name and the password; the signature shows who sends.',
  fragment: 'Leave out the fragment (#…); it is never sent.',
  port: 'Send a URL with the port 443, 80, or one from 1024 on.',
  unknown_host: 'Send a URL whose host exists; its name was not found.',
  http: `Send an https URL; http is for allowed networks only. ${ALLOW}`,
  blocked_address: `Send a URL whose host has only public addresses. ${ALLOW}`,
} as const
