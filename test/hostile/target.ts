import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type ChildServer, startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'

/** Starts a server in a process of its own, with the flags and limits that operators use. */
export async function startTarget({ CAIRN_RATE_LIMIT = '500' } = {}) {
  return await startChildServerWithCustomer({ asInProduction: true, environment: { CAIRN_RATE_LIMIT } })
}

/** Returns the processor time of the whole process since its start. */
export async function cpuSeconds(server: ChildServer): Promise<number> {
  return sumOf(await scrape(server), 'process_cpu_seconds_total')
}

/** Returns the processor time of the main thread since its start, if the system reports it (Linux). */
export function mainThreadSeconds({ pid }: ChildServer): number {
  const [ns] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(ns) / 1e9
}

/** Returns the peak memory of the process; 0 if the system does not report it. */
export function peakBytes({ pid }: ChildServer): number {
  try {
    const [, kib = 0] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kib) * 1024
  } catch {
    return 0
  }
}

/**
 * Opens a connection that sends only what it is given and reads nothing until asked. It is closed when the test ends.
 */
export async function openSilently({ url }: ChildServer, localAddress = '127.0.0.1'): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  // Being disconnected is what the test waits for.
  socket.on('error', () => {})
  return socket
}

/** Returns what arrives on a connection until it closes, or until `enough` matches. */
export async function answerOn(socket: Socket, enough: RegExp): Promise<string> {
  let answer = ''
  for await (const bytes of socket) {
    answer += bytes
    if (enough.test(answer)) break
  }
  return answer
}
