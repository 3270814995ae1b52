import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../problems.ts'

/** Requests of a connection that wait for their responses; each takes some kilobytes. */
const MOST_WAITING = 1_000

/** Of each connection, the response to its latest request, and how many are not closed. */
const begun = new WeakMap<Socket, { latest: ServerResponse; waiting: number }>()

const refusals = new WeakMap<IncomingMessage, Problem>()

/**
 * Records that the head of a request has arrived.
 * @returns false if its connection is closed because too many pipelined requests are waiting; nothing must be done for it
 */
export function noteBegun(res: ServerResponse): boolean {
  const { socket } = res.req
  // What was read together with requests before it.
  if (socket.destroyed) return false
  const own = begun.get(socket) ?? { latest: res, waiting: 0 }
  if (own.waiting === 0) begun.set(socket, own)
  own.latest = res
  own.waiting += 1
  res.once('close', () => {
    own.waiting -= 1
  })
  if (own.waiting > MOST_WAITING) socket.destroy()
  return !socket.destroyed
}

/** Returns the response to the latest request that started on a connection. */
export function begunOn(socket: Socket): ServerResponse | undefined {
  return begun.get(socket)?.latest
}

/** Whether a connection has a request whose response is not sent yet. */
export function isAtRequest(socket: Socket): boolean {
  return begunOn(socket)?.writableFinished === false
}

/**
 * Refuses a request whose rest is malformed or did not arrive in time. The problem takes the place of the body: what
 * waits for it fails. An operation that has already started needs no body, and its outcome is the response.
 */
export function refuseRest(req: IncomingMessage, problem: Problem): void {
  refusals.set(req, problem)
  req.emit('refused', problem)
}

/** Returns what a request was refused with by `refuseRest`. */
export function refusalOf(req: IncomingMessage): Problem | undefined {
  return refusals.get(req)
}
