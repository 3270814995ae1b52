import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { startCairn } from '../cairn.ts'
import { checkReply } from './reply-check.ts'

/** A Cairn to be tried against the contract: one that is started for the test, or any deployment. */
export type Target = {
  secretKey: string
  /** A deployment need not give one; what needs it is then not exercised. */
  publishableKey: string | undefined
  /** Sends a request as it stands and checks the reply against the contract. */
  send(request: RawRequest): Promise<Response>
  stop(): Promise<void>
}

export type RawRequest = {
  method: string
  /** Below the base path, with the query. */
  path: string
  headers?: Record<string, string>
  /** JSON text, or what should have been. */
  body?: string | undefined
}

/** How to reach a deployment, and how many requests to generate; set by `npm run contract`. */
export const settings = {
  // biome-ignore lint/style/noProcessEnv: handed down by test/contract/run.ts
  baseUrl: process.env.CAIRN_CONTRACT_BASE_URL,
  // biome-ignore lint/style/noProcessEnv: handed down by test/contract/run.ts
  key: process.env.CAIRN_CONTRACT_KEY,
  // biome-ignore lint/style/noProcessEnv: handed down by test/contract/run.ts
  requests: Number(process.env.CAIRN_CONTRACT_REQUESTS ?? 200),
}

export async function openTarget(): Promise<Target> {
  if (settings.baseUrl !== undefined) {
    const { key = '', baseUrl } = settings
    return { secretKey: key, publishableKey: undefined, ...sender(baseUrl, key) }
  }
  const cairn = await startCairn()
  const { secret_key, publishable_key } = await cairn.workspace()
  const { send } = sender(`${cairn.url}/v1`, secret_key)
  return { secretKey: secret_key, publishableKey: publishable_key, send, stop: cairn.stop }
}

/** A new journey of the target. */
export async function newJourney({ send, secretKey }: Target): Promise<string> {
  const reply = await send({
    method: 'POST',
    path: '/journeys',
    headers: { 'x-service-key': secretKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `Contract test ${randomUUID()}` }),
  })
  return (await reply.json()).journey_id
}

/** A new customer in the journey. */
export async function newCustomer({ send, secretKey }: Target, journey_id: string): Promise<string> {
  const reply = await send({
    method: 'POST',
    path: '/customers/initialize',
    headers: { 'x-service-key': secretKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      client_customer_id: randomUUID(),
      journey_id,
      customer_type: 'contact',
      customer_name: 'Contract test',
    }),
  })
  return (await reply.json()).customer_id
}

/** The request as a command that a person can run; the key stays out of it. */
export function curl({ method, path, headers = {}, body }: RawRequest): string {
  const shown = Object.entries(headers).map(([name, value]) => {
    return name === 'x-service-key' ? `-H "x-service-key: $KEY"` : `-H ${quoted(`${name}: ${value}`)}`
  })
  const data = body === undefined ? [] : [`--data-binary ${quoted(body)}`]
  return ['curl', '-X', method, ...shown, ...data, `"$BASE_URL"${quoted(path)}`].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Sends, waits where the key's rate is used up, and at the end archives every journey that was made. */
function sender(baseUrl: string, key: string): Pick<Target, 'send' | 'stop'> {
  const made: string[] = []
  const send: Target['send'] = async (request) => {
    const { method, path, headers = {}, body } = request
    const signal = AbortSignal.timeout(10_000)
    const sent = new Request(baseUrl + path, { method, headers, signal, ...(body !== undefined && { body }) })
    const reply = await checkReply(method, path, await fetch(sent))
    if (reply.status === 429) {
      await setTimeout(Number(reply.headers.get('retry-after')) * 1000)
      return await send(request)
    }
    if (reply.status === 201 && path === '/journeys') made.push((await reply.clone().json()).journey_id)
    return reply
  }
  const stop = async () => {
    const headers = { 'x-service-key': key }
    for (const id of made) await send({ method: 'POST', path: `/journeys/${id}/archive`, headers })
  }
  return { send, stop }
}
