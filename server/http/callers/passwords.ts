import { randomBytes } from 'node:crypto'
import { siteOf } from '../../domain/addresses.ts'
import { FairQueue } from '../../domain/fair-queue.ts'
import { turnIn, type Waiting } from '../rates/turns.ts'

/** argon2id with the parameters that OWASP recommends for passwords: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Maximum passwords hashed at a time. Each takes about 30 ms of one of the four threads that Node has for such work;
 * compressed events and files need the others.
 */
const RUNNING = 2

/** Maximum waiting in each lane; together they take about a second. */
const WAITING = 50

/** Maximum waiting per known person, so that no one fills the lane. */
const WAITING_OF_PERSON = 10

/** Known callers go first, but after this many in a row one of the others is served. */
const KNOWN_IN_A_ROW = 3

/**
 * The caller of a comparison: a person known by a session or an earlier sign-in of the browser, or anyone from a
 * network.
 */
export type Guessing = { person: string; workspace?: string } | { network: string }

export type PasswordStatistics = { waiting: number; refused: number }

/** A hash in the PHC string format that no password matches. Comparing with it takes as long as with any other. */
const OF_NOBODY = [
  '',
  'argon2id',
  'v=19',
  `m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$')

/**
 * Hashes and verifies passwords on other threads, with load shedding in two lanes. A flood of sign-ins, from however
 * many networks, fills only the lane of unknown callers. There networks are served round-robin (fair queuing), and the one
 * with the most waiting is refused first. Browsers that have signed in before, sessions and one-time links use the other lane.
 */
export class Passwords {
  #running = 0
  #knownInARow = 0
  readonly #known = new FairQueue<Waiting>({ perCaller: WAITING_OF_PERSON, inAll: WAITING })
  readonly #others = new FairQueue<Waiting>({ perCaller: WAITING, inAll: WAITING })
  readonly #refused = { known: 0, other: 0 }

  /** Per lane. `refused` counts since the process started. */
  statistics(): Record<'known' | 'other', PasswordStatistics> {
    return {
      known: { waiting: this.#known.size, refused: this.#refused.known },
      other: { waiting: this.#others.size, refused: this.#refused.other },
    }
  }

  /**
   * Returns the argon2id hash of a password in the PHC string format.
   * @param person the owner, known by a session or a one-time link
   * @param workspace the one that has invited the person; all whom it has invited share the place of one person
   * @throws {Unavailable} `overloaded` if too many passwords are waiting
   */
  async hash(password: string, person: string, workspace = person): Promise<string> {
    return await this.#queued({ person, workspace }, async () => {
      const argon2 = await library()
      return await argon2.hash(comparable(password), { ...COST, type: argon2.argon2id })
    })
  }

  /**
   * Returns whether the password matches the hash. Without a hash, for a person who does not exist, it takes the same
   * time and returns false.
   * @throws {Unavailable} `overloaded` if too many passwords are waiting
   */
  async matches(password: string, hash: string | undefined, guessing: Guessing): Promise<boolean> {
    return await this.#queued(guessing, async () => {
      const argon2 = await library()
      return (await argon2.verify(hash ?? OF_NOBODY, comparable(password))) && hash !== undefined
    })
  }

  async #queued<Result>(guessing: Guessing, work: () => Promise<Result>): Promise<Result> {
    // A finished call passes its slot on to the next.
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

  async #wait(guessing: Guessing): Promise<void> {
    const lane = 'person' in guessing ? 'known' : 'other'
    const owner =
      'person' in guessing
        ? { workspaceId: guessing.workspace ?? guessing.person, caller: guessing.person }
        : { workspaceId: siteOf(guessing.network), caller: guessing.network }
    try {
      await turnIn(lane === 'known' ? this.#known : this.#others, owner)
    } catch (error) {
      this.#refused[lane] += 1
      throw error
    }
  }

  #next(): Waiting | undefined {
    const isOthersTurn = this.#knownInARow >= KNOWN_IN_A_ROW
    const [first, second] = isOthersTurn ? [this.#others, this.#known] : [this.#known, this.#others]
    const queue = first.size > 0 ? first : second
    this.#knownInARow = queue === this.#known ? this.#knownInARow + 1 : 0
    return queue.take()
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** Normalizes a password, so that it does not matter how the keyboard composes characters (NIST SP 800-63B). */
function comparable(password: string): string {
  return password.normalize('NFKC')
}

/** Loaded on first use: most servers start many times between two sign-ins. */
async function library() {
  return (await import('argon2')).default
}
