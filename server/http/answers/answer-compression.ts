import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** What is shorter fits into few packets: to compress it would take longer than to send it. */
const LEAST_LENGTH = 8 * 1024

/** So many are held, the others wait for the first. Four pages of a megabyte are 4 MiB, and take some 50 ms. */
const MOST_HELD = 4

// A list shrinks to a third. 6 would leave 9 % less, in three to five times the time.
const options = { level: 1 }

/**
 * Compresses answers that are large and read by a GET, for who takes gzip: the one coding that browsers take without TLS
 * as well. The main thread only hands over and takes back.
 *
 * That the length of a compressed answer tells what is in it (BREACH) needs a secret and a guess of the attacker's in
 * one answer, and a victim that is made to ask for it many times. Answers to changes, which alone hold secrets (a key, the
 * token of a link), are never compressed, nor are refusals, which alone say something of the request. A page of another
 * site cannot make a browser ask with its session: the cookie is SameSite=Strict, and a key's header is refused to it.
 * What remains is who reads the network and may write into a list that somebody else looks at: the length may then tell
 * more of what stands beside it than it tells anyway. Nothing in a list is a secret that opens anything.
 */
export class AnswerCompression {
  #held = 0
  #last: Promise<unknown> = Promise.resolve()

  /** Whether such an answer is compressed for who takes it. */
  isFor({ method, text }: { method: string; text: string | Uint8Array }): boolean {
    return method === 'GET' && text.length >= LEAST_LENGTH
  }

  /**
   * One at a time: zlib's threads, of which Node has four, are those of passwords and of compressed events as well.
   * @returns undefined where too many wait: as it is, the answer can be sent at once
   */
  async compress(text: string | Uint8Array): Promise<Buffer | undefined> {
    if (this.#held >= MOST_HELD) return undefined
    this.#held += 1
    try {
      return await this.inTurn(() => promisify(gzip)(text, options))
    } finally {
      this.#held -= 1
    }
  }

  /** Compresses a part of what is sent for long, when all that waits has been compressed. */
  async inTurn<Compressed>(compress: () => Promise<Compressed>): Promise<Compressed> {
    const compressed = this.#last.then(compress)
    // Whoever comes next waits for the end of this one, whatever it is.
    this.#last = compressed.catch(() => {})
    return await compressed
  }
}
