import { type ClientOptions, createClient, type OperationResult, type Schemas } from './client.ts'
import { canOutlivePage } from './keepalive.ts'
import { newMessageId } from './message-id.ts'

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
  /** Aborting rejects at once with the signal's reason; an event that waits is not sent any more. */
  signal?: AbortSignal | undefined
}

/** Sends the events of one customer in one journey, one after the other, in the order of tracking. */
export type Tracker = {
  /**
   * Queues an event, as it is at this moment, until the customer is initialized and the events before it have their
   * outcome. Without `occurred_at` it occurs when it arrives at the server.
   *
   * Resolves like `createEvent` with `{ data, response }` once it is stored, and with `{ error, response }` if it is
   * refused. If the initialization fails, that is the outcome of every event that waits for it, and the next event
   * tracked starts it again. Rejects like `createEvent`, and at once with
   * - `QueueFullError`, if `queueLimit` events are without an outcome;
   * - `TrackerClosedError`, after `close`;
   * - a `TypeError`, if the variables cannot be put into JSON.
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
   * the browser finishes without the page (64 KiB and 64 requests at a time, with all others of this package).
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
    super(`${queueLimit} events wait for their outcome. Track this one later, or raise queueLimit.`)
  }
}

/** The tracker was closed; the event was not taken. */
export class TrackerClosedError extends Error {
  override readonly name = 'TrackerClosedError'

  constructor() {
    super('The tracker is closed. Create another one to track further events.')
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
  let customer_id: string | undefined
  let initialization: Promise<OperationResult<'initializeCustomer'>>

  /** Initializes the customer if that is not done, then sends one event after the other until none is left. */
  async function work() {
    isWorking = true
    try {
      if (customer_id === undefined) initialization = client.initializeCustomer({ body: customer })
      const { data, error, response } = await initialization
      customer_id = data?.customer_id
      for (const event of queue) {
        if (error) event.settle({ error, response })
        else if (!event.call) await send(event, bodyOf(event, data.customer_id))
      }
    } catch (error) {
      for (const event of queue) event.settle(Promise.reject(error))
    }
    isWorking = false
  }

  function bodyOf({ tracked }: QueuedEvent, customer_id: string): Schemas['EventCreation'] {
    return { journey_id: customer.journey_id, customer_id, ...tracked }
  }

  /** Resolves when the request has ended. Its result is the outcome, unless another request took its place. */
  async function send(event: QueuedEvent, body: Schemas['EventCreation']) {
    const call = new AbortController()
    event.call?.abort()
    event.call = call
    const result = client.createEvent({ body, signal: call.signal })
    await result.catch(() => {})
    if (event.call === call) event.settle(result)
  }

  function enqueue(
    tracked: { [Name in keyof TrackedEvent]: TrackedEvent[Name] | undefined },
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      signal?.throwIfAborted()
      if (isClosed) throw new TrackerClosedError()
      if (queue.size >= queueLimit) throw new QueueFullError(queueLimit)
      const event: QueuedEvent = {
        // The caller may change its object while the event waits.
        tracked: JSON.parse(JSON.stringify(tracked)),
        settle(outcome) {
          queue.delete(event)
          signal?.removeEventListener('abort', abort)
          resolve(outcome)
        },
      }
      const abort = () => {
        event.settle(Promise.reject(signal?.reason))
        event.call?.abort()
      }
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
      const left: TrackedEvent[] = []
      for (const event of queue) {
        if (event.call && outliving.has(event.call.signal)) continue
        const body = customer_id !== undefined && bodyOf(event, customer_id)
        if (body && canOutlivePage(JSON.stringify(body))) void send(event, body)
        else left.push(event.tracked)
      }
      return left
    },
  }
}

type Outcome = OperationResult<'createEvent'>

type QueuedEvent = {
  tracked: TrackedEvent
  /** Gives the event its outcome, once; a promise passes its own on. */
  settle: (outcome: Outcome | Promise<Outcome>) => void
  /** Ends the latest call that sends it; undefined while it waits. */
  call?: AbortController
}
