import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../cairn.ts'

/** What becomes of the next connection on which a statement comes. */
export type Fate =
  /** It is cut off before the server has the statement. */
  | 'before'
  /** The server has the statement, and its client is gone. */
  | 'during'
  /** It is cut off when the server has answered, and nobody hears the answer. */
  | 'after'

/** Stands between Cairn and a PostgreSQL server. */
export type DatabaseProxy = {
  /** The same database by way of the proxy. */
  url: string
  /** How many connections met their fate. */
  cuts(): number
  /** Lets the next statement with the text meet a fate, so many times. */
  cutAt(text: string, fate: Fate, times?: number): void
  /** Cuts all connections off. */
  cutAll(): void
  /** Keeps all connections, hands nothing on, and lets nobody connect. */
  freeze(): void
  thaw(): void
}

/** A proxy to the server behind a unix socket. It ends with the test. */
export async function startProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const server = join(target.searchParams.get('host') ?? '', '.s.PGSQL.5432')
  const folder = temporaryFolder()
  const sockets = new Set<Socket>()
  let awaited: { text: string; fate: Fate; times: number } | undefined
  let cuts = 0
  let isFrozen = false

  const meets = (chunk: Buffer): Fate | undefined => {
    if (!awaited || awaited.times === 0 || !chunk.includes(awaited.text)) return undefined
    awaited.times -= 1
    cuts += 1
    return awaited.fate
  }
  const proxy: Server = createServer((client) => {
    const upstream = connect(server)
    let isCutAtAnswer = false
    let isOver = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (isFrozen) socket.pause()
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    const end = () => {
      isOver = true
      client.destroy()
      upstream.destroy()
    }
    client.on('data', (chunk) => {
      const fate = meets(chunk)
      if (fate === 'before') return end()
      upstream.write(chunk)
      if (fate === 'after') isCutAtAnswer = true
      if (fate === 'during') {
        isOver = true
        client.destroy()
      }
    })
    upstream.on('data', (chunk) => {
      // The end of an answer: the server is ready for the next statement.
      if (isCutAtAnswer && chunk.includes(READY)) end()
      else if (!isCutAtAnswer) client.write(chunk)
    })
    client.on('close', () => {
      if (!isOver) upstream.destroy()
    })
    upstream.on('close', () => client.destroy())
  })
  proxy.listen(join(folder, '.s.PGSQL.5432'))
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
    },
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

/** ReadyForQuery of the protocol, outside a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
