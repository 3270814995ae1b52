import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../fixtures/cairn.ts'

/** When the next connection with a matching statement is cut off. */
export type Fate =
  /** Before the server has the statement. */
  | 'before'
  /** After the server has the statement, before it has answered. */
  | 'during'
  /** After the server has answered; the answer is lost. */
  | 'after'

/** A proxy between Cairn and a PostgreSQL server. */
export type DatabaseProxy = {
  /** The URL of the same database through the proxy. */
  url: string
  /** Number of connections cut off by `cutAt`. */
  cuts(): number
  /**
   * Cuts off the connections of the next `times` statements that contain the text.
   * @returns resolves when the first is cut off, before its client can know
   */
  cutAt(text: string, fate: Fate, times?: number): Promise<void>
  /**
   * Holds back the next statement that contains the text, and what follows it on its connection.
   * @returns resolves when it is held, to a function that lets it through
   */
  hold(text: string): Promise<() => void>
  /** Cuts all connections off. */
  cutAll(): void
  /** Keeps all connections open, forwards nothing, and accepts no connection. */
  freeze(): void
  thaw(): void
}

/**
 * Starts a proxy to a server, on a unix socket. It stops with the test.
 * @param isPooler whether it reports another process to clients than the server's, as poolers do
 * @param isForeign whether errors come in another language, as with the server's `lc_messages`
 */
export async function startProxy(
  url: string,
  { isPooler = false, isForeign = false } = {},
): Promise<DatabaseProxy> {
  const target = new URL(url)
  const socket = `.s.PGSQL.${target.port || 5432}`
  const socketFolder = target.searchParams.get('host')
  const connectToServer = () =>
    socketFolder === null
      ? connect(Number(target.port || 5432), target.hostname)
      : connect(join(socketFolder, socket))
  const folder = temporaryFolder()
  const sockets = new Set<Socket>()
  let awaited: { text: string; fate: Fate; times: number } | undefined
  let cut = Promise.withResolvers<void>()
  let cuts = 0
  let isFrozen = false
  let held: { text: string; resolve: (letThrough: () => void) => void } | undefined

  const meets = (text: string): Fate | undefined => {
    if (!awaited || awaited.times === 0 || !text.includes(awaited.text)) return undefined
    awaited.times -= 1
    cuts += 1
    return awaited.fate
  }
  const proxy: Server = createServer((client) => {
    const upstream = connectToServer()
    const prepared = new Map<string, string>()
    const translate = isForeign ? translator() : (chunk: Buffer) => chunk
    let isCutAtAnswer = false
    let isOver = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (isFrozen) socket.pause()
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    const endClient = () => {
      isOver = true
      client.destroy()
      cut.resolve()
    }
    const end = () => {
      endClient()
      upstream.destroy()
    }
    client.on('data', async (chunk) => {
      const statements = statementsOf(chunk, prepared)
      if (held && statements.includes(held.text)) {
        const { resolve } = held
        held = undefined
        client.pause()
        await new Promise<void>((letThrough) => resolve(letThrough))
        client.resume()
      }
      const fate = meets(statements)
      if (fate === 'before') return end()
      upstream.write(chunk)
      if (fate === 'after') isCutAtAnswer = true
      if (fate === 'during') endClient()
    })
    upstream.on('data', (sent) => {
      const chunk = translate(sent)
      const told = isPooler ? chunk.indexOf(BACKEND_KEY) : -1
      if (told !== -1) chunk.writeInt32BE(1, told + BACKEND_KEY.length)
      // The end of a response: the server is ready for the next statement.
      if (isCutAtAnswer && chunk.includes(READY)) end()
      else if (!isCutAtAnswer) client.write(chunk)
    })
    client.on('close', () => {
      if (!isOver) upstream.destroy()
    })
    upstream.on('close', () => client.destroy())
  })
  proxy.listen(join(folder, socket))
  await once(proxy, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  target.searchParams.set('host', folder)
  return {
    url: target.href,
    cuts: () => cuts,
    cutAt(text, fate, times = 1) {
      awaited = { text, fate, times }
      cut = Promise.withResolvers()
      return cut.promise
    },
    hold: (text) =>
      new Promise((resolve) => {
        held = { text, resolve }
      }),
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
  }
}

/**
 * Returns a function that translates the errors and notices of one server, message by message; it buffers partial
 * messages.
 */
function translator(): (chunk: Buffer) => Buffer {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const whole: Buffer[] = []
    while (rest.length > 4 && rest.length > rest.readInt32BE(1)) {
      const message = rest.subarray(0, 1 + rest.readInt32BE(1))
      rest = rest.subarray(message.length)
      whole.push(ERRORS.includes(message[0] ?? 0) ? translated(message) : message)
    }
    return Buffer.concat(whole)
  }
}

/**
 * Translates an ErrorResponse or NoticeResponse: fields of a letter and a text. V, the untranslated severity, stays.
 */
function translated(message: Buffer): Buffer {
  const fields = message.toString('utf8', 5, message.length - 2).split('\0')
  const told = fields.map((field) => {
    if (field.startsWith('S')) return `S${SEVERITIES[field.slice(1)] ?? 'HINWEIS'}`
    return /^[MDHW]/.test(field) ? `${field[0]}auf Deutsch` : field
  })
  const texts = Buffer.from(`${told.join('\0')}\0\0`)
  const head = Buffer.from(message.subarray(0, 5))
  head.writeInt32BE(4 + texts.length, 1)
  return Buffer.concat([head, texts])
}

const ERRORS: number[] = [...Buffer.from('EN')]

/** As a German server writes them. */
const SEVERITIES: Record<string, string> = { ERROR: 'FEHLER', FATAL: 'FATAL', PANIC: 'PANIK' }

/**
 * Returns what a client sends, including the text of each prepared statement that it runs.
 * @param prepared texts by name
 */
function statementsOf(chunk: Buffer, prepared: Map<string, string>): string {
  const sent = chunk.toString('latin1')
  for (const [, name = '', text = ''] of sent.matchAll(PARSE)) prepared.set(name, text)
  const bound = Array.from(sent.matchAll(BIND), ([, name = '']) => prepared.get(name) ?? '')
  return [sent, ...bound].join('\n')
}

/** Messages of the protocol: a letter, a length, then names and texts that end with a zero byte. */
const PARSE = /P[\s\S]{4}(\w+)\0([^\0]*)\0/g
const BIND = /B[\s\S]{4}\0(\w+)\0/g

/** BackendKeyData of the protocol, before the process number. */
const BACKEND_KEY = Buffer.from([0x4b, 0, 0, 0, 12])

/** ReadyForQuery of the protocol, in a transaction or not. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5])
