import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type ChildServer, startChildServerWithCustomer } from '../child-server.ts'
import { scrape, sumOf } from '../http/exposition.ts'

/** A server in a process of its own, with the flags and limits that operators have. */
export async function startTarget({ CAIRN_RATE_LIMIT = '500' } = {}) {
  return await startChildServerWithCustomer({ asInProduction: true, environment: { CAIRN_RATE_LIMIT } })
}

/** Processor time of the whole process since it began. */
export async function cpuSeconds(server: ChildServer): Promise<number> {
  return sumOf(await scrape(server), 'process_cpu_seconds_total')
}

/** Processor time of the thread that takes in requests since it began, where the system tells it (Linux). */
export function mainThreadSeconds({ pid }: ChildServer): number {
  const [ns] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(ns) / 1e9
}

/** The most memory that the process has had so far; 0 where the system does not tell. */
export function peakBytes({ pid }: ChildServer): number {
  try {
    const [, kib = 0] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kib) * 1024
  } catch {
    return 0
  }
}

/** A connection that sends what it is told to and reads nothing until it is told to. Closed when the test ends. */
export async function openSilently({ url }: ChildServer, localAddress = '127.0.0.1'): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  // To be cut off is what is waited for.
  socket.on('error', () => {})
  return socket
}

/** What comes on a connection until it is closed, or until `enough` of it has come. */
export async function answerOn(socket: Socket, enough: RegExp): Promise<string> {
  let answer = ''
  for await (const bytes of socket) {
    answer += bytes
    if (enough.test(answer)) break
  }
  return answer
}
