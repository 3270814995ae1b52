import { setTimeout } from 'node:timers/promises'
import { type Cairn, startCairn } from '../cairn.ts'
import { engine } from '../engine.ts'
import { withPatience } from '../patience.ts'
import { casesToTry } from '../thoroughness.ts'
import { checkReply } from './reply-check.ts'

/** A Cairn to check against the contract: one started for the test, or any deployment. */
export type Target = {
  /** The started server. Undefined for a deployment, of which only a secret key is known. */
  cairn: Cairn | undefined
  /** Sends a request unchanged and checks the response against the contract. */
  send: Send
  stop(): Promise<void>
}

export type Send = (request: RawRequest) => Promise<Response>

export type RawRequest = {
  method: string
  /** Below the base path, including the query. */
  path: string
  headers?: Record<string, string>
  /** JSON text, possibly invalid. */
  body?: string | undefined
}

/** Number of generated requests. The checks run before the engine, so one engine tries them all. */
const requestsFor = {
  sqlite: casesToTry({ inCi: 30, elsewhere: 20 }),
  postgres: 5,
}

/** The deployment and the number of requests, set by `npm run contract`; defaults by engine. */
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
  // Each request comes from a new address, so that wrong guesses in one test do not delay the next.
  const cairn = await startCairn({ trustedProxies: ['127.0.0.1'], rateLimitMax: 5000 })
  const { send } = sender(`${cairn.url}/v1`, () => ({ 'x-forwarded-for': newAddress() }))
  return { cairn, send, stop: cairn.stop }
}

let addresses = 0

/** Returns an address that has sent nothing yet. */
export function newAddress(): string {
  addresses += 1
  return [10, addresses >> 16, addresses >> 8, addresses].map((part) => part & 255).join('.')
}

/** Formats the request as a command that a person can run, without keys and cookies. */
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

/** Sends requests, waits when a rate limit is reached, and at the end archives every journey that was created. */
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
    // After too many guesses the wait grows each time, so that is not waited for.
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
