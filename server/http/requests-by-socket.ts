import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../problems.ts'

/** The response to the latest request of each connection. */
const begun = new WeakMap<Socket, ServerResponse>()

const refusals = new WeakMap<IncomingMessage, Problem>()

/** Records that the head of a request has arrived. */
export function noteBegun(res: ServerResponse): void {
  begun.set(res.req.socket, res)
}

/** Returns the response to the latest request that started on a connection. */
export function begunOn(socket: Socket): ServerResponse | undefined {
  return begun.get(socket)
}

/** Whether a connection has a request whose response is not sent yet. */
export function isAtRequest(socket: Socket): boolean {
  return begun.get(socket)?.writableFinished === false
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
