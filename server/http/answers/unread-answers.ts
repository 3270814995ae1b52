import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Places } from '../places.ts'

/** All answers together that are written and that their peers have not taken yet. */
const ANSWERS_BYTES = 64 * 1024 * 1024

/** A peer may take so long for any answer, and a second more for so many bytes of it. */
const PATIENCE_MS = 10_000
const LEAST_BYTES_A_SECOND = 32 * 1024

type Peer = {
  /** Whose it is: a key, a person or a network. */
  owner: string
  /** Called before the connection is destroyed, because its peer is too slow or has too many. */
  onCut: () => void
}

/** Bounds what waits for peers that do not read: the kernel takes what fits into its buffers, the rest is here. */
export class UnreadAnswers {
  readonly #places = new Places(ANSWERS_BYTES)
  /** The last answer of each connection whose requests go in turn. */
  readonly #last = new WeakMap<Socket, ServerResponse>()

  /** Whether an answer of this size may be written, where need be in the place of those whose peers are slow. */
  makeRoom(owner: string, bytes: number): boolean {
    return this.#places.makeRoom(owner, bytes)
  }

  /**
   * Looks after an answer that has been written and of which the kernel has not taken all.
   * @param peer who is to take it
   */
  watch(res: ServerResponse, peer: Peer): void {
    const place = this.#enter(res, peer)
    if (place) res.once('close', () => place.leave())
  }

  /** Waits until the connection has taken what of an answer was written, or has closed; meanwhile it looks after it. */
  async taken(res: ServerResponse, peer: Peer): Promise<void> {
    const place = this.#enter(res, peer)
    await new Promise<void>((resolve) => {
      if (res.closed || !res.writableNeedDrain) return resolve()
      const end = () => {
        res.off('drain', end).off('close', end)
        resolve()
      }
      res.on('drain', end).on('close', end)
    })
    place?.leave()
  }

  /** @returns undefined where there is no room for what it has not taken: it is cut off */
  #enter(res: ServerResponse, { owner, onCut }: Peer) {
    const bytes = res.writableLength
    const cut = () => {
      onCut()
      res.req.socket.destroy()
    }
    const patience_ms = PATIENCE_MS + (bytes / LEAST_BYTES_A_SECOND) * 1000
    const place = this.#places.enter({ owner, patience_ms, cut })
    if (place.hold(bytes)) return place
    place.lose()
    return undefined
  }

  /**
   * Calls back when the connection has taken the answers to the requests that were here before, which may be now; never
   * where it closes. Hundreds of requests fit into what a connection reads at once; each may ask for a megabyte.
   */
  inTurn({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const before = this.#last.get(socket)
    this.#last.set(socket, res)
    if (!before || before.closed) begin()
    else before.once('close', () => socket.destroyed || begin())
  }
}
