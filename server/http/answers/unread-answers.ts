import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MemoryBudget, type Reservation } from '../memory-budget.ts'

/** Maximum bytes of all responses that are written but not yet taken by their clients. */
const ANSWERS_BYTES = 64 * 1024 * 1024

/** Time that a client may take for any response, plus one second per this many bytes. */
const PATIENCE_MS = 10_000
const LEAST_BYTES_A_SECOND = 32 * 1024

export type Peer = {
  /** The owner of the memory: a key, a person or a network. */
  owner: string
  /** Called before the connection is closed because its client is too slow or has too much pending. */
  onCut: () => void
}

/** Whether nobody takes a response any more. */
export function isGone(res: ServerResponse): boolean {
  return res.closed || res.req.socket.destroyed
}

/** Limits the memory of responses to clients that do not read: the kernel buffers a part, the rest is held here. */
export class UnreadAnswers {
  readonly #budget = new MemoryBudget(ANSWERS_BYTES)
  /** The last response of each connection, for pipelined requests. */
  readonly #last = new WeakMap<Socket, ServerResponse>()
  /** The memory of responses behind those to earlier requests of their connection. */
  readonly #behind = new WeakMap<Socket, Set<Reservation>>()

  /** Whether a response of this size may be written; if necessary it evicts responses of slow clients. */
  makeRoom(owner: string, bytes: number): boolean {
    return this.#budget.makeRoom(owner, bytes)
  }

  /**
   * Watches a response that the kernel has not taken completely.
   * @param peer the client that is to take it
   */
  watch(res: ServerResponse, peer: Peer): void {
    if (isGone(res)) return
    const reservation = this.#enter(res, peer)
    if (reservation) res.once('close', () => reservation.leave())
  }

  /** Waits until the connection has taken what was written or has closed, and watches it meanwhile. */
  async taken(res: ServerResponse, peer: Peer): Promise<void> {
    if (isGone(res)) return
    const reservation = this.#enter(res, peer)
    const { socket } = res.req
    await new Promise<void>((resolve) => {
      if (isGone(res) || !res.writableNeedDrain) return resolve()
      const end = () => {
        res.off('drain', end).off('close', end)
        socket.off('close', end)
        resolve()
      }
      res.on('drain', end).on('close', end)
      // After a CONNECT on the connection, Node no longer closes its responses with it.
      socket.on('close', end)
    })
    reservation?.leave()
  }

  /** @returns undefined if there is no memory for the response; it is then cut off */
  #enter(res: ServerResponse, { owner, onCut }: Peer) {
    const bytes = res.writableLength
    const cut = () => {
      onCut()
      res.req.socket.destroy()
    }
    const patience_ms = PATIENCE_MS + (bytes / LEAST_BYTES_A_SECOND) * 1000
    const reservation = this.#budget.reserve({ owner, patience_ms, cut })
    if (!reservation.hold(bytes)) {
      reservation.lose()
      return undefined
    }
    if (!res.socket) this.#behindOthers(res, reservation)
    return reservation
  }

  /** The response is behind that to an earlier request: it does not wait for the client until it is sent. */
  #behindOthers(res: ServerResponse, reservation: Reservation) {
    const { socket } = res.req
    const behind = this.#behind.get(socket) ?? new Set<Reservation>()
    if (!this.#behind.has(socket)) {
      this.#behind.set(socket, behind)
      // After a CONNECT on the connection, Node no longer closes its responses with it.
      socket.once('close', () => {
        for (const each of behind) each.leave()
      })
    }
    behind.add(reservation)
    reservation.settle()
    res.once('close', () => behind.delete(reservation))
    res.once('socket', () => {
      behind.delete(reservation)
      reservation.wait()
    })
  }

  /**
   * Calls back once the responses to earlier requests on the connection have been taken, perhaps immediately; never if
   * it closes. Hundreds of pipelined requests fit into one read, and each may ask for a megabyte.
   */
  afterEarlier({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const before = this.#last.get(socket)
    this.#last.set(socket, res)
    if (!before || before.closed) begin()
    else before.once('close', () => socket.destroyed || begin())
  }
}
