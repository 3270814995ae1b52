import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/**
 * Minimum length of a compressed response: a shorter one fits into few packets, and to compress it takes longer than to
 * send it.
 */
const LEAST_LENGTH = 8 * 1024

/** Maximum responses waiting for compression. Four pages of a megabyte are 4 MiB and take about 50 ms. */
const MOST_HELD = 4

// A list shrinks to a third. Level 6 would save another 9 %, in three to five times the time.
const options = { level: 1 }

/**
 * Compresses large responses to GET requests with gzip, the one coding that browsers also accept without TLS. The work
 * is done by zlib's threads.
 *
 * BREACH: that the length of a compressed response reveals its content needs a secret and the attacker's guess in the
 * same response, and a victim that can be made to request it many times. Responses to changes, the only ones with
 * secrets (a key, the token of a link), are never compressed; nor are refusals, the only ones that repeat something of
 * the request. A page of another site cannot make a browser send its session: the cookie is SameSite=Strict, and a
 * secret key is refused there. What remains is an attacker who reads the network and may also write to a list that
 * another person views: the length may then reveal more than it does anyway about the other items. No list contains a
 * secret that gives access.
 */
export class AnswerCompression {
  #held = 0
  #last: Promise<unknown> = Promise.resolve()

  /** Whether the response is compressed if the client accepts it. */
  isFor({ method, text }: { method: string; text: string | Uint8Array }): boolean {
    return method === 'GET' && text.length >= LEAST_LENGTH
  }

  /**
   * Compresses one response at a time: Node's four zlib threads also hash passwords and inflate events.
   * @returns undefined if too many wait; the response can then be sent uncompressed at once
   */
  async compress(text: string | Uint8Array): Promise<Buffer | undefined> {
    if (this.#held >= MOST_HELD) return undefined
    this.#held += 1
    try {
      return await this.queued(() => promisify(gzip)(text, options))
    } finally {
      this.#held -= 1
    }
  }

  /** Compresses a part of a streamed response, after everything that waits. */
  async queued<Compressed>(compress: () => Promise<Compressed>): Promise<Compressed> {
    const compressed = this.#last.then(compress)
    // The next waits for the end of this one, whatever its result.
    this.#last = compressed.catch(() => {})
    return await compressed
  }
}
