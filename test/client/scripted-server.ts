import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Problem } from '../../client/index.ts'

/** How the scripted server treats one request whose body has been read. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** A request as it arrived, with its complete body. */
type Arrival = {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
  arrived_ms: number
}

/**
 * Starts a server on a real socket that treats each request by the next answer, and repeats the last one. It is closed
 * with all its connections when the test ends.
 */
export async function startScriptedServer(...script: [Answer, ...Answer[]]) {
  const arrivals: Arrival[] = []
  const server = createServer(async (request, response) => {
    const arrived_ms = Date.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const body = Buffer.concat(chunks).toString()
    arrivals.push({ method, url, headers, body, arrived_ms })
    const answer = script[arrivals.length - 1] ?? script.at(-1)
    answer?.(request, response, body)
    server.emit('arrival')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    /** All requests so far, in order of arrival. */
    arrivals,
    /** Resolves when the next request has arrived and was treated. */
    nextArrival: () => once(server, 'arrival'),
  }
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

/** Answers with a problem of the contract. */
export function problem(status: number, code: Problem['code'], headers: Record<string, string> = {}): Answer {
  const body: Problem = {
    type: `/docs/problems#${code}`,
    title: 'A problem',
    status,
    detail: 'Change something.',
    code,
    request_id: '0b0f6c1e-7c7e-4a0e-9d2f-3f7f3f0f5a55',
  }
  return json(status, body, { 'content-type': 'application/problem+json', ...headers })
}

/** Responds with an HTML page, as a proxy does. */
export function html(status: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>Not Cairn</h1>')
  }
}

/** Resets the connection instead of responding. */
export const reset: Answer = (request) => {
  request.socket.resetAndDestroy()
}

/** Announces 100 bytes, sends half of them and closes the connection. */
export const half: Answer = (request, response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' })
  response.write('{"success": true, "id": "evt_01jd3ze2b7x5v3t1r9p7n', () => request.socket.destroy())
}

/** Never responds. */
export const silence: Answer = () => {}
