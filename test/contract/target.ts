import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
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
    return { secretKey: key, publishableKey: undefined, send: sender(baseUrl), stop: async () => {} }
  }
  const cairn = await startCairn()
  const { secret_key, publishable_key } = await cairn.workspace()
  return {
    secretKey: secret_key,
    publishableKey: publishable_key,
    send: sender(`${cairn.url}/v1`),
    stop: cairn.stop,
  }
}

/** A new journey of the target. It is archived when the test has ended, so that a deployment is left tidy. */
export async function newJourney({ send, secretKey }: Target): Promise<string> {
  const headers = { 'x-service-key': secretKey }
  const body = JSON.stringify({ name: `Contract test ${randomUUID()}` })
  const reply = await send({
    method: 'POST',
    path: '/journeys',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  const { journey_id } = await reply.json()
  onTestFinished(async () => {
    await send({ method: 'POST', path: `/journeys/${journey_id}/archive`, headers })
  })
  return journey_id
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

function sender(baseUrl: string): Target['send'] {
  return async ({ method, path, headers = {}, body }) => {
    const signal = AbortSignal.timeout(10_000)
    const request = new Request(baseUrl + path, {
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
    })
    if (body === undefined) request.headers.delete('content-type')
    const reply = await fetch(request)
    return await checkReply(method, path, reply)
  }
}
