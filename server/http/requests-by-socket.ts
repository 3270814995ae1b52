import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../problems.ts'

/** A request whose head has arrived, and how to refuse it. */
export type Begun = { res: ServerResponse; refuse: (problem: Problem) => void }

/** The latest request of each connection. */
const begun = new WeakMap<Socket, Begun>()

/** Records how to refuse a request, in case its rest is malformed or never arrives. */
export function noteBegun(res: ServerResponse, refuse: Begun['refuse']): void {
  begun.set(res.req.socket, { res, refuse })
}

/** Returns the latest request that started on a connection. */
export function begunOn(socket: Socket): Begun | undefined {
  return begun.get(socket)
}

/** Whether a connection has a request whose response is not sent yet. */
export function isAtRequest(socket: Socket): boolean {
  return begun.get(socket)?.res.writableFinished === false
}
