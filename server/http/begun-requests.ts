import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../problems.ts'

/** A request from its head on, and how to refuse it. */
export type Begun = { res: ServerResponse; refuse: (problem: Problem) => void }

/** The last of each connection. */
const begun = new WeakMap<Socket, Begun>()

/** Notes how to refuse a request, should the rest of it turn out to be no HTTP or never arrive. */
export function noteBegun(res: ServerResponse, refuse: Begun['refuse']): void {
  begun.set(res.req.socket, { res, refuse })
}

/** The last request that has begun on a connection. */
export function begunOn(socket: Socket): Begun | undefined {
  return begun.get(socket)
}

/** Whether a connection is at a request, whose answer has not gone out. */
export function isAtRequest(socket: Socket): boolean {
  return begun.get(socket)?.res.writableFinished === false
}
