import { Worker } from 'node:worker_threads'
import { Unavailable } from '../unavailable.ts'
import type { Failure, Statement } from './statement.ts'
import type { Unit, UnitOutcome } from './units.ts'
import type { UnitResult, WriterReply, WriterRequest } from './writer-thread.ts'

/** More waiting rows than this are refused: what waits must be committed within a second or so. */
const WAITING_ROWS = 20_000

/** A group's rows: enough to share one fsync among many, few enough to commit in some ten milliseconds. */
const GROUP_ROWS = 2_000

type Waiting = {
  unit: Unit
  rows: number
  resolve: (outcome: UnitOutcome) => void
  reject: (error: Error) => void
}
type Reply<Kind extends WriterReply['kind']> = Extract<WriterReply, { kind: Kind }>

/**
 * The writer as the main thread sees it. Units that arrive while a group commits wait and are committed together next
 * (group commit); each is answered after its commit. A transaction of the main thread takes its turn between groups.
 */
export class Writer {
  readonly #thread: Worker
  readonly #now: () => number
  readonly #waiting: Waiting[] = []
  readonly #turns: (() => void)[] = []
  #waitingRows = 0
  #busy = false
  #scheduled = false
  #closed: Unavailable['reason'] | undefined
  #answer: { resolve: (reply: WriterReply) => void; reject: (error: Error) => void } | undefined

  private constructor(
    thread: Worker,
    now: () => number,
    onOutsideChange: () => void,
    onDeath: (error: Error) => void,
  ) {
    this.#thread = thread
    this.#now = now
    thread.on('message', (reply: WriterReply) => {
      if (reply.kind === 'changed-outside') onOutsideChange()
      else this.#answer?.resolve(reply)
    })
    thread.on('error', (error) => {
      this.#die(error)
      onDeath(error)
    })
  }

  /**
   * @throws {Error} with a message for the operator where the file cannot be served
   */
  static async open(options: {
    path: string
    now: () => number
    onOutsideChange: () => void
    onDeath: (error: Error) => void
  }): Promise<Writer> {
    const thread = new Worker(new URL('./writer-thread.ts', import.meta.url), {
      workerData: { path: options.path },
    })
    const writer = new Writer(thread, options.now, options.onOutsideChange, options.onDeath)
    const reply = await writer.#reply()
    if (reply.kind === 'refused') {
      await thread.terminate()
      throw new Error(reply.message)
    }
    return writer
  }

  /** @throws {Unavailable} where a unit would be refused */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable(this.#closed)
    if (this.#waitingRows >= WAITING_ROWS) throw new Unavailable('overloaded')
  }

  /** Resolves when the unit is on disk. */
  submit(unit: Unit): Promise<UnitOutcome> {
    return new Promise((resolve, reject) => {
      this.assertAvailable()
      const rows = unit.kind === 'events' ? unit.events.length : 1
      this.#waiting.push({ unit, rows, resolve, reject })
      this.#waitingRows += rows
      this.#schedule()
    })
  }

  /** Waits for a turn in which only the caller's statements are run; the caller must call `release`. */
  acquire(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed) reject(new Unavailable(this.#closed))
      this.#turns.push(resolve)
      this.#schedule()
    })
  }

  release(): void {
    this.#busy = false
    this.#schedule()
  }

  /** Runs one statement in the caller's turn. */
  async run(statement: Statement): Promise<{ rows: unknown[]; changes: number }> {
    const { result } = await this.#ask<'statement'>({ kind: 'statement', statement })
    if ('failure' in result) throw errorOf(result.failure)
    return result
  }

  /** Refuses new work, finishes what was taken, and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = 'shutting_down'
    const exited = new Promise((resolve) => this.#thread.once('exit', resolve))
    await new Promise<void>((resolve) => {
      this.#turns.push(resolve)
      this.#schedule()
    })
    this.#thread.postMessage({ kind: 'close' } satisfies WriterRequest)
    await exited
  }

  /** Requests of one turn of the event loop go together: a commit of one's own would cost each an fsync. */
  #schedule() {
    if (this.#scheduled || this.#busy) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      if (!this.#busy) this.#next()
    })
  }

  #next() {
    // On close the units that were taken go first.
    const turn = this.#closed && this.#waiting.length > 0 ? undefined : this.#turns.shift()
    if (turn) {
      this.#busy = true
      turn()
    } else if (this.#waiting.length > 0) {
      this.#busy = true
      void this.#commit(this.#takeGroup())
    }
  }

  #takeGroup(): Waiting[] {
    let rows = 0
    let count = 0
    for (const waiting of this.#waiting) {
      if (count > 0 && rows + waiting.rows > GROUP_ROWS) break
      rows += waiting.rows
      count += 1
    }
    this.#waitingRows -= rows
    return this.#waiting.splice(0, count)
  }

  async #commit(group: Waiting[]) {
    try {
      const units = group.map(({ unit }) => unit)
      const { results } = await this.#ask<'group'>({ kind: 'group', units, now_ms: this.#now() })
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index] as UnitResult
        if ('outcome' in result) resolve(result.outcome)
        else reject(errorOf(result.failure))
      }
    } catch (error) {
      for (const { reject } of group) reject(error as Error)
    }
    this.#busy = false
    // At once, not by way of #schedule: what arrived during the commit has waited long enough.
    this.#next()
  }

  async #ask<Kind extends WriterReply['kind']>(request: WriterRequest): Promise<Reply<Kind>> {
    if (this.#closed === 'storage_unavailable') throw new Unavailable(this.#closed)
    this.#thread.postMessage(request)
    return (await this.#reply()) as Reply<Kind>
  }

  #reply(): Promise<WriterReply> {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject }
    })
  }

  #die(error: Error) {
    this.#closed = 'storage_unavailable'
    const unavailable = new Unavailable('storage_unavailable', error)
    this.#answer?.reject(unavailable)
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable)
    for (const turn of this.#turns.splice(0)) turn()
  }
}

export function errorOf({ message, isStorageFailure }: Failure): Error {
  return isStorageFailure ? new Unavailable('storage_unavailable', message) : new Error(message)
}
