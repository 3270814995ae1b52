import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { Client, Schemas } from '../../client/index.ts'
import type { Config } from '../config.ts'
import { eventMessage } from '../domain/webhook-messages.ts'
import { newWebhookSecret, signatureHeaders, signingKey } from '../webhooks/signature.ts'
import { apiClient, patientClient } from './api-client.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { type ApiOptions, httpUrl, withApi } from './options.ts'
import { giveUpAfter } from './patient-fetch.ts'
import { dataOf } from './replies.ts'
import { interruptible } from './signals.ts'
import { printable } from './table.ts'

type Options = ApiOptions & { forward: URL; from?: string; giveUpAfter: number }

/** What forwarding is done with. */
type Forwarding = { to: URL; secret: string; io: CommandIo; signal: AbortSignal }

/** Wait before asking for new events, and before trying a receiver again that does not answer. */
const LOOK_MS = 1_000

/** As long as a server waits for a receiver. */
const TIMEOUT_MS = 15_000

const PAGE = 100

/** `whsec_` and at least 24 bytes in base64, as Standard Webhooks requires. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/

const HELP = `
The secret key is read from the environment variable CAIRN_SERVICE_KEY or from --key-file.

Each event that arrives is sent as a POST request of type event.created, signed as Standard Webhooks, so that you can try a
receiver on your machine without a public address. The secret is printed at the start; to keep it the same, set
CAIRN_WEBHOOK_SECRET. While nothing listens at the URL, the command waits. It does not retry what the receiver answers: one
line per event says what that was. It also waits for a server that restarts, and misses nothing. Ctrl-C ends it, and so does a
reader that closes its standard output.`

const ADVICE = 'Events since then: --from.'

export function defineWebhooks(webhooks: Command, config: () => Config, io: CommandIo): void {
  const listen = webhooks
    .command('listen')
    .description('send new events to a receiver on this machine, signed as a webhook')
    .requiredOption(
      '--forward <url>',
      'URL of the receiver, for example http://localhost:4000/hook',
      receiverUrl,
    )
    .option(
      '--from <instant>',
      'send events since then, for example 2026-11-20T08:00:00Z (default: now)',
      instant,
    )
  withApi(listen, 'secret key')
    .addOption(giveUpAfter())
    .addHelpText('after', HELP)
    .action((options: Options) =>
      interruptible(ADVICE, async (stop) => {
        const { signal } = stop
        io.stdout.once('error', () => stop.abort())
        const user = 'listening'
        const clients = {
          first: apiClient(config(), io, options, user),
          next: patientClient(config(), io, options, { user, signal, advice: ADVICE }),
        }
        const secret = secretOf(io)
        try {
          await follow(clients, options.from, { to: options.forward, secret, io, signal })
        } catch (error) {
          // How it is meant to end.
          if (!signal.aborted) throw error
        }
      }),
    )
}

/** What asks for events: `first` fails at once where there is no server, `next` waits for one that restarts. */
type Clients = { first: Client; next: Client }

async function follow(clients: Clients, from: string | undefined, forwarding: Forwarding): Promise<void> {
  const { to, secret, io, signal } = forwarding
  const start = from ?? new Date().toISOString()
  for (let cursor: string | null | undefined, isFirst = true; ; isFirst = false) {
    const client = isFirst ? clients.first : clients.next
    const position = { received_from: start, ...(cursor && { cursor }) }
    const page = dataOf(
      await client.listEvents({ query: { order: 'oldest', limit: PAGE, ...position }, signal }),
    )
    if (isFirst) io.stdout.write(`Secret: ${secret}\nSending events since ${start} to ${to.href}\n`)
    for (const event of page.data) await forward(event, forwarding)
    cursor = page.next_cursor ?? cursor
    if (page.caught_up_to) await sleep(LOOK_MS, undefined, { signal })
  }
}

/** Sends one event until the receiver answers it. */
async function forward(event: Schemas['Event'], { to, secret, io, signal }: Forwarding): Promise<void> {
  const body = Buffer.from(eventMessage(event))
  // The same after a restart, so that a receiver recognizes the event.
  const id = event.id.replace(/^evt_/, 'msg_')
  for (let isWaiting = false; ; ) {
    const start_ms = performance.now()
    const headers = signatureHeaders({ id, attempted_ms: Date.now(), body, keys: [signingKey(secret)] })
    try {
      const { status } = await post(to, body, headers, signal)
      const took = `${Math.round(performance.now() - start_ms)} ms`
      io.stdout.write(
        `${event.received_at} ${id} ${printable(JSON.stringify(event.event_id))} ${status} ${took}\n`,
      )
      return
    } catch (error) {
      signal.throwIfAborted()
      // Once, and not with every attempt.
      if (!isWaiting) io.stderr.write(`${to.href} does not answer (${reasonOf(error)}); trying again\n`)
      isWaiting = true
      await sleep(LOOK_MS, undefined, { signal })
    }
  }
}

async function post(url: URL, body: Buffer<ArrayBuffer>, headers: Record<string, string>, stop: AbortSignal) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]),
  })
  await response.body?.cancel()
  return response
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

/** It is not an argument, because every user of the machine can see arguments. */
function secretOf({ env }: CommandIo): string {
  const secret = env.CAIRN_WEBHOOK_SECRET || newWebhookSecret()
  if (SECRET.test(secret)) return secret
  throw new CommandFailure(
    'CAIRN_WEBHOOK_SECRET must be whsec_ and at least 24 bytes in base64',
    ExitCode.usage,
  )
}

function receiverUrl(text: string): URL {
  const url = httpUrl(text)
  if (url) return url
  throw new InvalidArgumentError('Use the form http://localhost:4000/hook.')
}

function instant(text: string): string {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/
  if (form.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  throw new InvalidArgumentError('Use the form 2026-11-20T08:00:00Z.')
}
