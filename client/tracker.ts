import { type ClientOptions, createClient } from './client.ts'
import { bytesOf, canOutlivePage } from './keepalive.ts'
import { newMessageId } from './message-id.ts'
import { type OperationResult, type Schemas, UnexpectedResponseError } from './operation-calls.ts'
import { assertJson } from './variables.ts'

/** The most events that the contract takes in one batch. */
const batchLimit = 1000

/** A batch grows up to this: the contract takes four times as much, but many a proxy refuses more than 1 MiB. */
const batchLimit_bytes = 1_000_000

/** What a batch has around its events and the commas between them. */
const frame_bytes = 13 // {"events":[]}

/** Whose events are tracked, and how to reach the server. */
export type TrackerOptions = ClientOptions & {
  /** Initialized once; every event is this customer's, in this journey. */
  customer: Schemas['CustomerInitialization']
  /** How many events may be without an outcome at a time. Default: 1000. */
  queueLimit?: number | undefined
}

/** An event as it was tracked. Survives `JSON.stringify`. */
export type TrackedEvent = Omit<Schemas['EventCreation'], 'journey_id' | 'customer_id'> & {
  message_id: string
}

export type TrackOptions = {
  /** When it happened. The tracker sets none by itself: a customer's wrong clock must not get events refused. */
  occurred_at?: string | undefined
  /** Default: a new UUIDv7. Pass the one of `handOver` when you track its event again. */
  message_id?: string | undefined
  /**
   * Aborting rejects at once with the signal's reason; an event that waits is not sent any more. The other events of
   * its batch are not touched: a request ends when all its events are aborted.
   */
  signal?: AbortSignal | undefined
}

/**
 * Sends the events of one customer in one journey, in the order of tracking: one request at a time, with all events
 * that wait for it, up to 1000 and 1 MB. Several go by `createEvents`, a single one by `createEvent`.
 */
export type Tracker = {
  /**
   * Queues an event, as it is at this moment, until the customer is initialized and the request before it has ended.
   * Without `occurred_at` it occurs when it arrives at the server.
   *
   * Resolves like `createEvent` with `{ data, response }` once it is stored, and with `{ error, response }` if it is
   * refused; `response` is that of its request, which may have carried other events too. No event is refused because
   * of another: where the form or the size of a batch is refused, its events are sent one by one. If the initialization
   * fails, that is the outcome of every event that waits for it, and the next event tracked starts it again.
   *
   * Rejects like `createEvent`, and at once with
   * - `QueueFullError`, if `queueLimit` events are without an outcome;
   * - `TrackerClosedError`, after `close`;
   * - a `TypeError` that names the place, if the variables are not JSON values: NaN, undefined, a Map, a class's object.
   */
  readonly track: (
    event_id: string,
    custom_variables?: Schemas['CustomVariables'],
    options?: TrackOptions,
  ) => Promise<OperationResult<'createEvent'>>

  /** The outcome of the initialization, of the latest if it was started again. */
  readonly initialization: () => Promise<OperationResult<'initializeCustomer'>>

  /** Resolves when every event tracked so far has its outcome. */
  readonly flush: () => Promise<void>

  /** Refuses further events from now on, and resolves when those tracked so far have their outcome. */
  readonly close: () => Promise<void>

  /**
   * For the page's `pagehide` event: before it returns, every event without an outcome that fits is in a request that
   * the browser finishes without the page (64 KiB and 64 requests at a time, with all others of this package). Events
   * go together in one request, so that they are stored in order and as many as possible fit. Where nobody can send
   * them one by one any more, one of a form that the contract refuses, such as an empty `event_id`, costs the others.
   *
   * Returns the events that are in none, because they did not fit or the customer is not initialized yet. Keep them,
   * and track them again on the next page with their `message_id`: what did arrive after all is stored once. Nobody
   * sees the answer to a request that outlives its page; should the page live on, every event gets its outcome.
   */
  readonly handOver: () => TrackedEvent[]
}

/** `queueLimit` events are without an outcome; the event was not taken. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'

  constructor(queueLimit: number) {
    super(`${queueLimit} events wait. Track later, or raise queueLimit.`)
  }
}

/** The tracker was closed; the event was not taken. */
export class TrackerClosedError extends Error {
  override readonly name = 'TrackerClosedError'

  constructor() {
    super('The tracker is closed. Create another.')
  }
}

/** Starts to initialize the customer, and tracks its events. */
export function createTracker(options: TrackerOptions): Tracker {
  const { customer, queueLimit = 1000, fetch = globalThis.fetch } = options
  /** The signals of the calls that have a request under way which outlives the page. */
  const outliving = new Set<AbortSignal | null>()
  const client = createClient({
    ...options,
    async fetch(request, init) {
      if (request.keepalive) outliving.add(init.signal)
      try {
        return await fetch(request, init)
      } finally {
        outliving.delete(init.signal)
      }
    },
  })
  /** The events without an outcome, in the order of tracking. */
  const queue = new Set<QueuedEvent>()
  /** What `flush` waits for. */
  const outcomes = new Set<Promise<Outcome>>()
  let isClosed = false
  let isWorking = false
  /** Empty until the customer is initialized; no event is sent before. */
  let customer_id = ''
  let initialization: Promise<OperationResult<'initializeCustomer'>>

  /** Initializes the customer if that is not done, then sends one batch after the other until no event is left. */
  async function work() {
    isWorking = true
    try {
      if (!customer_id) initialization = client.initializeCustomer({ body: customer })
      const { data, error, response } = await initialization
      customer_id = data?.customer_id ?? ''
      if (error) settleAll(() => ({ error, response }))
      for (;;) {
        const waiting = [...queue].filter(({ call }) => !call)
        // One that is too large by itself goes too: the server says so.
        const batch = takeBatch(waiting, (size_bytes, index) => !index || size_bytes <= batchLimit_bytes)
        if (!batch.length) break
        await send(batch)
      }
    } catch (error) {
      // One for each event: where none waits, nobody would handle it.
      settleAll(() => Promise.reject(error))
    }
    isWorking = false
  }

  function settleAll(outcome: () => Outcome | Promise<Outcome>) {
    for (const event of queue) event.settle(outcome())
  }

  /** Takes from the events, the first first, those that may go in one request together. None, if the first does not fit. */
  function takeBatch(
    events: QueuedEvent[],
    fits: (size_bytes: number, index: number) => boolean,
  ): QueuedEvent[] {
    let size_bytes = frame_bytes
    const end = events.findIndex((event, index) => {
      size_bytes += bytesOf(JSON.stringify(bodyOf(event))) + 1
      return index === batchLimit || !fits(size_bytes, index)
    })
    return events.splice(0, end < 0 ? events.length : end)
  }

  function bodyOf({ tracked }: QueuedEvent): Schemas['EventCreation'] {
    return { journey_id: customer.journey_id, customer_id, ...tracked }
  }

  /**
   * Resolves when the request has ended, and where the whole was refused those of its single events too. Then its
   * events have their outcome, unless another request took its place.
   */
  async function send(batch: QueuedEvent[]) {
    const call: Call = { controller: new AbortController(), events: new Set(batch) }
    for (const event of batch) {
      leaveCall(event)
      event.call = call
    }
    const { signal } = call.controller
    const events = batch.map(bodyOf)
    const [body] = events
    const single = events.length === 1 && body
    const result: Promise<Answer> = single
      ? client.createEvent({ body: single, signal })
      : client.createEvents({ body: { events }, signal })
    // A proxy that refuses the size answers in its own way, which rejects. What rejects may be anything.
    const { response }: { response?: Response } = await result.catch(Object)
    if (!single && (response?.status === 400 || response?.status === 413)) {
      for (const event of call.events) await send([event])
    }
    for (const [index, event] of batch.entries()) {
      if (call.events.has(event)) event.settle(result.then((answer) => outcomeAt(index, answer)))
    }
  }

  function enqueue(
    tracked: { [Name in keyof TrackedEvent]: TrackedEvent[Name] | undefined },
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      signal?.throwIfAborted()
      if (isClosed) throw new TrackerClosedError()
      assertJson(tracked.custom_variables ?? null, '/custom_variables')
      if (queue.size >= queueLimit) throw new QueueFullError(queueLimit)
      const event: QueuedEvent = {
        // The caller may change its object while the event waits.
        tracked: JSON.parse(JSON.stringify(tracked)),
        settle(outcome) {
          queue.delete(event)
          leaveCall(event)
          signal?.removeEventListener('abort', abort)
          resolve(outcome)
        },
      }
      const abort = () => event.settle(Promise.reject(signal?.reason))
      signal?.addEventListener('abort', abort)
      queue.add(event)
      if (!isWorking) void work()
    })
  }

  void work()
  return {
    async track(event_id, custom_variables, { occurred_at, message_id = newMessageId(), signal } = {}) {
      const outcome = enqueue({ event_id, custom_variables, occurred_at, message_id }, signal)
      outcomes.add(outcome)
      try {
        // Not the same promise: a rejection that the caller ignores is reported, whether or not flush has seen it.
        return await outcome
      } finally {
        outcomes.delete(outcome)
      }
    },
    initialization: () => initialization,
    async flush() {
      await Promise.allSettled(outcomes)
    },
    async close() {
      isClosed = true
      await Promise.allSettled(outcomes)
    },
    handOver() {
      const rest = [...queue].filter(({ call }) => !call || !outliving.has(call.controller.signal))
      const left: TrackedEvent[] = []
      while (rest.length) {
        const batch = customer_id ? takeBatch(rest, canOutlivePage) : []
        if (batch.length) void send(batch)
        else left.push(...rest.splice(0, 1).map(({ tracked }) => tracked))
      }
      return left
    },
  }
}

/** Takes the event out of the request that carries it, and ends a request that carries no event any more. */
function leaveCall(event: QueuedEvent) {
  const { call } = event
  if (call?.events.delete(event) && call.events.size === 0) call.controller.abort()
}

/** The outcome of one event, in the form of `createEvent`. */
function outcomeAt(index: number, { data, error, response }: Answer): Outcome {
  if (error) return { error, response }
  if ('success' in data) return { data, response }
  const { status, id, received_at, problem } = data.results[index] ?? {}
  if (problem) {
    return { error: { ...problem, request_id: response.headers.get('x-request-id') ?? '' }, response }
  }
  if (!id || !received_at) throw new UnexpectedResponseError(response, data)
  return { data: { success: true, id, duplicate: status === 'duplicate', received_at }, response }
}

type Outcome = OperationResult<'createEvent'>

type Answer = Outcome | OperationResult<'createEvents'>

type QueuedEvent = {
  tracked: TrackedEvent
  /** Gives the event its outcome, once; a promise passes its own on. */
  settle: (outcome: Outcome | Promise<Outcome>) => void
  /** The latest request that carries it; none while it waits. */
  call?: Call
}

/** A request, and those of its events that wait for its answer. */
type Call = { controller: AbortController; events: Set<QueuedEvent> }
