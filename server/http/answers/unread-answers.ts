import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Places } from '../places.ts'

/** All answers together that are written and that their peers have not taken yet. */
const ANSWERS_BYTES = 64 * 1024 * 1024

/** A peer may take so long for any answer, and a second more for so many bytes of it. */
const PATIENCE_MS = 10_000
const LEAST_BYTES_A_SECOND = 32 * 1024

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
   * @param options.owner whose it is: a key, a person or a network
   * @param options.onCut is called before the connection is destroyed, because its peer is too slow or has too many
   */
  watch(res: ServerResponse, { owner, onCut }: { owner: string; onCut: () => void }): void {
    const bytes = res.writableLength
    const cut = () => {
      onCut()
      res.req.socket.destroy()
    }
    const patience_ms = PATIENCE_MS + (bytes / LEAST_BYTES_A_SECOND) * 1000
    const place = this.#places.enter({ owner, patience_ms, cut })
    if (place.hold(bytes)) res.once('close', () => place.leave())
    else place.lose()
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
