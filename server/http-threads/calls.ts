import { type MessagePort, receiveMessageOnPort, type Transferable } from 'node:worker_threads'
import { JsonBytes } from '../domain/json-bytes.ts'
import type { Reading } from '../storage/storage.ts'
import { errorOf, type Failure, Unavailable } from '../storage/unavailable.ts'

type Method = (...args: never[]) => unknown

/** What one thread lets another one call. What methods take and return is copied, so it has no functions in it. */
export type Methods = Record<string, Method>

type Result<M extends Method> = Awaited<ReturnType<M>>

/** The methods whose last parameter says on whose behalf something is read, and when that is no longer wanted. */
type Reads<Theirs> = {
  [Name in keyof Theirs]: Theirs[Name] extends (...args: [...infer _, Reading]) => unknown ? Name : never
}[keyof Theirs]

type ArgumentsBeforeReading<M extends Method> =
  Parameters<M> extends [...infer Before, Reading] ? Before : never

type Call = { id: number; method: string; args: unknown[]; reading?: Omit<Reading, 'signal'> }
type Answer = { id: number; value?: unknown; failure?: Failure }

/** What has come together in one round of the event loop: a message for each would cost each thread some microseconds. */
type Message = { calls: Call[]; abandoned: number[]; answers: Answer[] }

type Asked = { resolve: (value: never) => void; reject: (error: unknown) => void }

/** Of a call that nobody waits for. */
const TOLD = 0

/** Calls between two threads, over a port, in both directions. */
export class Calls<Theirs extends Methods> {
  readonly #port: MessagePort
  readonly #own: Methods
  readonly #asked = new Map<number, Asked>()
  /** Those of the others that can be abandoned. */
  readonly #reads = new Map<number, AbortController>()
  #next: Message = nothing()
  #transferred: Transferable[] = []
  #lastId = TOLD
  #isScheduled = false

  /** @param own what the other thread may call here */
  constructor(port: MessagePort, own: Methods) {
    this.#port = port
    this.#own = own
    port.on('message', (message: Message) => this.#hear(message))
  }

  /**
   * Calls a method of the other thread.
   * @throws {Unavailable} where it does; else an `Error` with the message of what it throws
   */
  ask<Name extends keyof Theirs & string>(
    method: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Result<Theirs[Name]>> {
    return this.#ask({ method, args })
  }

  /**
   * Calls a method that reads.
   * @throws like `ask`; the reason of the reading's signal as soon as it is aborted, and the other thread is told
   */
  read<Name extends Reads<Theirs> & string>(
    method: Name,
    { signal, ...reading }: Reading,
    ...args: ArgumentsBeforeReading<Theirs[Name]>
  ): Promise<Result<Theirs[Name]>> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const asked = this.#ask<Result<Theirs[Name]>>({ method, args, reading })
    const id = this.#lastId
    const abandon = () => {
      this.#asked.get(id)?.reject(signal.reason)
      this.#asked.delete(id)
      this.#next.abandoned.push(id)
      this.#schedule()
    }
    signal.addEventListener('abort', abandon, { once: true })
    return asked.finally(() => signal.removeEventListener('abort', abandon))
  }

  /** Calls a method and does not wait for it. What was told is heard before what is asked later. */
  tell<Name extends keyof Theirs & string>(method: Name, ...args: Parameters<Theirs[Name]>): void {
    this.#next.calls.push({ id: TOLD, method, args })
    this.#schedule()
  }

  /** Sends what there is to be sent at once. */
  flush(): void {
    const message = this.#next
    const isEmpty = message.calls.length + message.abandoned.length + message.answers.length === 0
    if (isEmpty) return
    const transferred = this.#transferred
    this.#next = nothing()
    this.#transferred = []
    try {
      this.#port.postMessage(message, transferred)
    } catch {
      // Something in it cannot be copied: that alone is not sent.
      for (const call of message.calls) this.#sendAlone({ ...nothing(), calls: [call] })
      for (const answer of message.answers) this.#sendAlone({ ...nothing(), answers: [answer] })
      this.#port.postMessage({ ...nothing(), abandoned: message.abandoned })
    }
  }

  /** @param message one call or one answer; whoever waits for it is told where it cannot be copied */
  #sendAlone(message: Message) {
    try {
      this.#port.postMessage(message)
    } catch (error) {
      const failure = failureOf(error)
      for (const { id } of message.calls) this.#settle({ id, failure })
      const answers = message.answers.map(({ id }) => ({ id, failure }))
      this.#port.postMessage({ ...nothing(), answers })
    }
  }

  #ask<Value>(call: Omit<Call, 'id'>): Promise<Value> {
    // What has been answered meanwhile: a busy event loop comes to its messages only after all else that is ready.
    this.#hearAll()
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      this.#asked.set(this.#lastId, { resolve, reject })
      this.#next.calls.push({ id: this.#lastId, ...call })
      this.#schedule()
    })
  }

  #schedule() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  #hearAll() {
    for (let said = receiveMessageOnPort(this.#port); said; said = receiveMessageOnPort(this.#port)) {
      this.#hear(said.message)
    }
  }

  #hear({ calls, abandoned, answers }: Message) {
    for (const answer of answers) this.#settle(answer)
    for (const call of calls) void this.#answer(call)
    for (const id of abandoned) this.#reads.get(id)?.abort(new Error('its caller has gone'))
  }

  #settle({ id, value, failure }: Answer) {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (failure) asked?.reject(errorOf(failure))
    else asked?.resolve(restored(value) as never)
  }

  async #answer({ id, method, args, reading }: Call) {
    try {
      // What the other thread sends is of the method's own types, as they are declared there.
      const own = this.#own[method] as ((...args: unknown[]) => unknown) | undefined
      if (!own) throw new Error(`there is no ${method} to be called`)
      let value: unknown
      if (reading) {
        const controller = new AbortController()
        this.#reads.set(id, controller)
        value = await own(...args, { ...reading, signal: controller.signal })
      } else {
        value = await own(...args)
      }
      if (id !== TOLD) this.#next.answers.push({ id, value: this.#copied(value) })
    } catch (error) {
      if (id !== TOLD) this.#next.answers.push({ id, failure: failureOf(error) })
    } finally {
      if (reading) this.#reads.delete(id)
    }
    this.#schedule()
  }

  /** Hands memory over that holds nothing else, and does not copy it. */
  #copied(value: unknown): unknown {
    const bytes = bytesOf(value)
    if (bytes?.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength) {
      this.#transferred.push(bytes.buffer)
    }
    return value instanceof JsonBytes ? { jsonBytes: value.bytes } : value
  }
}

function nothing(): Message {
  return { calls: [], abandoned: [], answers: [] }
}

/** Of an answer that is mostly bytes: JSON, or a slice of an export. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof JsonBytes) return value.bytes
  const bytes: unknown = Object(value).bytes
  return bytes instanceof Uint8Array ? bytes : undefined
}

function restored(value: unknown): unknown {
  const bytes: unknown = Object(value).jsonBytes
  return bytes instanceof Uint8Array ? new JsonBytes(bytes) : value
}

function failureOf(error: unknown): Failure {
  if (error instanceof Unavailable) {
    const { cause, reason } = error
    // One without a cause must not get one: it would be logged.
    return { message: cause === undefined ? undefined : messageOf(cause), outage: reason }
  }
  return { message: messageOf(error) }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
