import { randomBytes } from 'node:crypto'
import { Unavailable } from './storage/unavailable.ts'

/** argon2id as OWASP recommends it for passwords: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * So many are worked on at a time. Each takes some 30 ms of one of the four threads that Node has for such work, and
 * compressed events and files need the others.
 */
const RUNNING = 2

/** So many wait at the most, about a second. */
const WAITING = 50

/** A hash in the PHC string format that no password has: to compare one with it takes as long as with any other. */
const OF_NOBODY = [
  '',
  'argon2id',
  'v=19',
  `m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$')

/** Hashes passwords, and compares them with their hashes, on other threads. */
export class Passwords {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /**
   * The argon2id hash of a password, in the PHC string format.
   * @throws {Unavailable} `overloaded`, where too many passwords wait
   */
  async hash(password: string): Promise<string> {
    return await this.#inTurn(async () => {
      const argon2 = await library()
      return await argon2.hash(comparable(password), { ...COST, type: argon2.argon2id })
    })
  }

  /**
   * Whether the password has the hash. Without a hash, for somebody who does not exist, it takes the same time and is
   * false.
   * @throws {Unavailable} `overloaded`, where too many passwords wait
   */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    return await this.#inTurn(async () => {
      const argon2 = await library()
      return (await argon2.verify(hash ?? OF_NOBODY, comparable(password))) && hash !== undefined
    })
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length >= WAITING) throw new Unavailable('overloaded')
    if (this.#running < RUNNING) this.#running += 1
    // Whoever ends hands its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** The same characters however the keyboard has composed them (NIST SP 800-63B). */
function comparable(password: string): string {
  return password.normalize('NFKC')
}

/** Loaded when it is needed: most servers start many times between two sign-ins. */
async function library() {
  return (await import('argon2')).default
}
