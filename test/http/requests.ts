import { once } from 'node:events'
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request as startRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Problem } from '../../client/index.ts'
import type { Cairn } from '../cairn.ts'
import { checkReply } from '../contract/reply-check.ts'

const agent = new Agent({ keepAlive: true })

type Sent = {
  /** Sent as `x-service-key`. */
  key?: string
  /** In addition to the key; a body is `application/json` by default. */
  headers?: OutgoingHttpHeaders
  /** Sent unchanged. */
  body?: string | Buffer
}

/**
 * Sends what no client would send, and checks the response against the contract.
 * @param line method and path below the base path, for example `GET /customers?limit=0`; nothing is normalized
 * @throws {Error} if the sender gets no response
 */
export async function send(
  cairn: Pick<Cairn, 'url'>,
  line: string,
  { key, headers, body }: Sent = {},
): Promise<Response> {
  const [method = '', path = ''] = line.split(' ')
  const { hostname, port } = new URL(cairn.url)
  const isChunked = headers?.['transfer-encoding'] !== undefined
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = startRequest({
      hostname,
      port,
      agent,
      method,
      path: `/v1${path}`,
      headers: {
        ...(key !== undefined && { 'x-service-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(body !== undefined && !isChunked && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
    })
    request.once('response', resolve)
    request.once('error', reject)
    request.end(body)
  })
  const bytes = await buffer(reply)
  const response = new Response(bytes.length > 0 ? new Uint8Array(bytes) : null, {
    status: reply.statusCode ?? 0,
    headers: Object.entries(reply.headers).flatMap(([name, value]) =>
      [value].flat().map((value) => [name, String(value)] as [string, string]),
    ),
  })
  return await checkReply(method, path, response)
}

/** Returns the problem of a refused request. */
export async function problemOf(reply: Response): Promise<Problem> {
  return await reply.json()
}

/** Returns the fields of a problem that programs branch on, and its faults. */
export async function refusal(reply: Response): Promise<Pick<Problem, 'status' | 'code' | 'errors'>> {
  const { status, code, errors } = await problemOf(reply)
  return { status, code, ...(errors && { errors }) }
}

/** A connection on which bytes are sent unchanged. */
export type Connection = {
  socket: Socket
  /** Everything received so far. */
  answer(): string
  /** Resolves when both sides have closed; with the error if the connection was reset. */
  closed: Promise<NodeJS.ErrnoException | undefined>
}

/**
 * Opens a connection that is closed when the test ends. The test must run alone, or vitest may close it for another
 * one.
 */
export async function openConnection(cairn: Pick<Cairn, 'url'>): Promise<Connection> {
  const connection = connectTo(cairn)
  onTestFinished(() => void connection.socket.destroy())
  await once(connection.socket, 'connect')
  return connection
}

function connectTo(cairn: Pick<Cairn, 'url'>): Connection {
  const { hostname, port } = new URL(cairn.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  let error: NodeJS.ErrnoException | undefined
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
  })
  socket.once('error', (reason) => {
    error = reason
  })
  const closed = new Promise<typeof error>((resolve) => {
    socket.once('close', () => resolve(error))
  })
  return { socket, answer: () => answer, closed }
}

/**
 * Sends bytes unchanged and checks the first response against the contract.
 * @param line the request as which it is checked, like that of `send`
 * @throws {Error} if the connection ends before a complete response
 */
export async function sendBytes(cairn: Cairn, line: string, bytes: string): Promise<Response> {
  const { socket, answer, closed } = connectTo(cairn)
  await once(socket, 'connect')
  socket.write(bytes, 'latin1')
  let reply = firstAnswer(answer())
  while (!reply) {
    await Promise.race([once(socket, 'data'), closed])
    reply = firstAnswer(answer())
    if (!reply && socket.closed) throw new Error(`${line} got no whole answer: ${answer()}`)
  }
  socket.end()
  const [method = '', path = ''] = line.split(' ')
  return await checkReply(method, path, reply)
}

/** Returns the first response in what was received so far; undefined while it is incomplete. */
function firstAnswer(text: string): Response | undefined {
  const [head = ''] = text.split('\r\n\r\n', 1)
  const [line = '', ...fields] = head.split('\r\n')
  const headers = fields.map((field) => field.split(/: (.*)/s, 2) as [string, string])
  const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(line)?.[1])
  const body = text.slice(head.length + 4)
  const reply = status >= 200 ? new Response(body || null, { status, headers }) : undefined
  return reply && Buffer.byteLength(body, 'latin1') >= Number(reply.headers.get('content-length'))
    ? reply
    : undefined
}

/** Formats the head of a request, including the empty line after the headers. */
export function head(line: string, headers: Record<string, string> = {}): string {
  const [method, path] = line.split(' ')
  const fields = Object.entries({ host: 'cairn', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} /v1${path} HTTP/1.1\r\n${fields.join('')}\r\n`
}

/** Formats one chunk of a chunked body. */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
