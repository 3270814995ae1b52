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
  /** Beside the key; a body is `application/json` unless they say otherwise. */
  headers?: OutgoingHttpHeaders
  /** Sent as it stands. */
  body?: string | Buffer
}

/**
 * Sends what no client would send, and checks the reply against the contract.
 * @param line method and path below the base path, for example `GET /customers?limit=0`; nothing is normalised
 * @throws {Error} where the sender does not get to see an answer
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

/** The problem with which a request was refused. */
export async function problemOf(reply: Response): Promise<Problem> {
  return await reply.json()
}

/** The fields of a problem that programs decide by, and its faults. */
export async function refusal(reply: Response): Promise<Pick<Problem, 'status' | 'code' | 'errors'>> {
  const { status, code, errors } = await problemOf(reply)
  return { status, code, ...(errors && { errors }) }
}

/** A connection on which bytes are sent as they stand. */
export type Connection = {
  socket: Socket
  /** All that has come so far. */
  answer(): string
  /** Resolves when both sides have closed; with the error where the connection was reset. */
  closed: Promise<NodeJS.ErrnoException | undefined>
}

/** Closed when the test ends, which must run alone: of several at once, vitest may take it for another's. */
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
 * Sends bytes as they stand, and checks the first answer to them against the contract.
 * @param line the request as which it is checked, like that of `send`
 * @throws {Error} where the connection ends before there is a whole one
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

/** The first answer in what a connection has brought so far; undefined while it is not whole. */
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

/** The head of a request, from its line to the empty line behind the headers. */
export function head(line: string, headers: Record<string, string> = {}): string {
  const [method, path] = line.split(' ')
  const fields = Object.entries({ host: 'cairn', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} /v1${path} HTTP/1.1\r\n${fields.join('')}\r\n`
}

/** One chunk of a chunked body. */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
