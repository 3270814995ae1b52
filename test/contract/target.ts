import { setTimeout } from 'node:timers/promises'
import { type Cairn, startCairn } from '../cairn.ts'
import { engine } from '../engine.ts'
import { withPatience } from '../patience.ts'
import { casesToTry } from '../thoroughness.ts'
import { checkReply } from './reply-check.ts'

/** A Cairn to be tried against the contract: one that is started for the test, or any deployment. */
export type Target = {
  /** What was started. Undefined for a deployment, of which a secret key is all that is known. */
  cairn: Cairn | undefined
  /** Sends a request as it stands and checks the reply against the contract. */
  send: Send
  stop(): Promise<void>
}

export type Send = (request: RawRequest) => Promise<Response>

export type RawRequest = {
  method: string
  /** Below the base path, with the query. */
  path: string
  headers?: Record<string, string>
  /** JSON text, or what should have been. */
  body?: string | undefined
}

/** The checks of a request come before the engine, and are tried in full on one. */
const requestsFor = {
  sqlite: casesToTry({ inCi: 30, elsewhere: 20 }),
  postgres: 5,
}

/** How to reach a deployment, and how many requests to generate; set by `npm run contract`, the engine's without it. */
export const settings = {
  // biome-ignore lint/style/noProcessEnv: handed down by test/contract/run.ts
  baseUrl: process.env.CAIRN_CONTRACT_BASE_URL,
  // biome-ignore lint/style/noProcessEnv: handed down by test/contract/run.ts
  key: process.env.CAIRN_CONTRACT_KEY ?? '',
  // biome-ignore lint/style/noProcessEnv: handed down by test/contract/run.ts
  requests: Number(process.env.CAIRN_CONTRACT_REQUESTS ?? requestsFor[engine]),
}

export async function openTarget(): Promise<Target> {
  if (settings.baseUrl !== undefined) {
    return { cairn: undefined, ...sender(settings.baseUrl, () => ({})) }
  }
  // Each request comes from an address of its own: wrong guesses of one test must not hold back the next.
  const cairn = await startCairn({ trustedProxies: ['127.0.0.1'], rateLimitMax: 5000 })
  const { send } = sender(`${cairn.url}/v1`, () => ({ 'x-forwarded-for': newAddress() }))
  return { cairn, send, stop: cairn.stop }
}

let addresses = 0

/** An address that has sent nothing yet. */
export function newAddress(): string {
  addresses += 1
  return [10, addresses >> 16, addresses >> 8, addresses].map((part) => part & 255).join('.')
}

/** The request as a command that a person can run; keys and cookies stay out of it. */
export function curl({ method, path, headers = {}, body }: RawRequest): string {
  const shown = Object.entries(headers).map(([name, value]) => {
    if (name === 'x-service-key') return '-H "x-service-key: $KEY"'
    if (name === 'cookie') return '-H "cookie: $COOKIE"'
    return `-H ${quoted(`${name}: ${value}`)}`
  })
  const data = body === undefined ? [] : [`--data-binary ${quoted(body)}`]
  return ['curl', '-X', method, ...shown, ...data, `"$BASE_URL"${quoted(path)}`].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Sends, waits where a rate is used up, and at the end archives every journey that was made. */
function sender(baseUrl: string, added: () => Record<string, string>): Pick<Target, 'send' | 'stop'> {
  const made: { id: string; headers: Record<string, string> }[] = []
  const send: Send = async (request) => {
    const { method, path, headers = {}, body } = request
    const signal = AbortSignal.timeout(withPatience.timeout)
    const sent = new Request(baseUrl + path, {
      method,
      headers: { ...added(), ...headers },
      signal,
      ...(body !== undefined && { body }),
    })
    const reply = await checkReply(method, path, await fetch(sent))
    // Who has guessed too often waits for longer each time, and is not waited for.
    if (reply.status === 429 && (await reply.clone().json()).code === 'rate_limited') {
      await setTimeout(Number(reply.headers.get('retry-after')) * 1000)
      return await send(request)
    }
    if (reply.status === 201 && path === '/journeys') {
      const { 'content-type': _, ...credential } = headers
      made.push({ id: (await reply.clone().json()).journey_id, headers: credential })
    }
    return reply
  }
  const stop = async () => {
    for (const { id, headers } of made)
      await send({ method: 'POST', path: `/journeys/${id}/archive`, headers })
  }
  return { send, stop }
}
