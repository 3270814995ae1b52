import { randomBytes } from 'node:crypto'
import { FairQueue, type Owner } from './domain/fair-queue.ts'
import { siteOf } from './domain/networks.ts'
import { Unavailable } from './storage/unavailable.ts'

/** argon2id as OWASP recommends it for passwords: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * So many are worked on at a time. Each takes some 30 ms of one of the four threads that Node has for such work, and
 * compressed events and files need the others.
 */
const RUNNING = 2

/** Maximum waiting in each lane: all of them together wait for about a second. */
const WAITING = 50

/** Of those that are known each may have so many waiting, so that none fills the lane. */
const WAITING_OF_PERSON = 10

/** Those that are known go first, except that after so many of them one of the others has its turn. */
const KNOWN_IN_A_ROW = 3

/** For whom a password is compared: a person whom a session or the browser's earlier sign-in names, or anybody from a network. */
export type Guessing = { person: string } | { network: string }

type Waiting = { owner: Owner; begin: () => void; refuse: (error: Unavailable) => void }

export type PasswordStatistics = { waiting: number; refused: number }

/** A hash in the PHC string format that no password has: to compare one with it takes as long as with any other. */
const OF_NOBODY = [
  '',
  'argon2id',
  'v=19',
  `m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$')

/**
 * Hashes passwords, and compares them with their hashes, on other threads. There are two lanes: a flood of sign-ins from
 * however many networks fills the one for those who are not known, where networks take turns and the one with most waiting
 * is refused first; a browser that has signed in before, a session and a one-time link have the other.
 */
export class Passwords {
  #running = 0
  #knownInARow = 0
  readonly #known = new FairQueue<Waiting>({ perCaller: WAITING_OF_PERSON, inAll: WAITING })
  readonly #others = new FairQueue<Waiting>({ perCaller: WAITING, inAll: WAITING })
  readonly #refused = { known: 0, other: 0 }

  /** By lane. `refused` counts since the process began. */
  statistics(): Record<'known' | 'other', PasswordStatistics> {
    return {
      known: { waiting: this.#known.size, refused: this.#refused.known },
      other: { waiting: this.#others.size, refused: this.#refused.other },
    }
  }

  /**
   * The argon2id hash of a password, in the PHC string format.
   * @param person whose it is, or will be: known by a session or a one-time link
   * @throws {Unavailable} `overloaded`, where too many passwords wait
   */
  async hash(password: string, person: string): Promise<string> {
    return await this.#inTurn({ person }, async () => {
      const argon2 = await library()
      return await argon2.hash(comparable(password), { ...COST, type: argon2.argon2id })
    })
  }

  /**
   * Whether the password has the hash. Without a hash, for somebody who does not exist, it takes the same time and is
   * false.
   * @throws {Unavailable} `overloaded`, where too many passwords wait
   */
  async matches(password: string, hash: string | undefined, guessing: Guessing): Promise<boolean> {
    return await this.#inTurn(guessing, async () => {
      const argon2 = await library()
      return (await argon2.verify(hash ?? OF_NOBODY, comparable(password))) && hash !== undefined
    })
  }

  async #inTurn<Result>(guessing: Guessing, work: () => Promise<Result>): Promise<Result> {
    // Whoever ends hands its place on.
    if (this.#running >= RUNNING) await this.#wait(guessing)
    else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#next()
      if (next) next.begin()
      else this.#running -= 1
    }
  }

  #wait(guessing: Guessing): Promise<void> {
    const lane = 'person' in guessing ? 'known' : 'other'
    const queue = lane === 'known' ? this.#known : this.#others
    const owner =
      'person' in guessing
        ? { workspaceId: guessing.person, caller: guessing.person }
        : { workspaceId: siteOf(guessing.network), caller: guessing.network }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        owner,
        begin: resolve,
        refuse: (error) => {
          this.#refused[lane] += 1
          reject(error)
        },
      }
      if (queue.add(waiting)) return
      const crowdedOut = queue.crowdOut(owner)
      crowdedOut?.refuse(new Unavailable('overloaded'))
      if (!crowdedOut || !queue.add(waiting)) waiting.refuse(new Unavailable('overloaded'))
    })
  }

  #next(): Waiting | undefined {
    const isOthersTurn = this.#knownInARow >= KNOWN_IN_A_ROW
    const [first, second] = isOthersTurn ? [this.#others, this.#known] : [this.#known, this.#others]
    const queue = first.size > 0 ? first : second
    this.#knownInARow = queue === this.#known ? this.#knownInARow + 1 : 0
    const next = queue.begin()
    if (next) queue.end(next)
    return next
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
