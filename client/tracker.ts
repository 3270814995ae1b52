import { type ClientOptions, createClient } from './client.ts'
import type { AnyEvents, EventName, TrackArguments } from './events.ts'
import { bytesOf, canOutlivePage } from './keepalive.ts'
import { newMessageId } from './message-id.ts'
import { type OperationResult, type Schemas, UnexpectedResponseError } from './operation-calls.ts'
import { assertJson } from './variables.ts'

/** Maximum events per batch in the contract. */
const batchLimit = 1000

/** Maximum bytes per batch. The contract allows four times as much, but many proxies refuse more than 1 MiB. */
const batchLimit_bytes = 1_000_000

/** Bytes of a batch without its events and the commas between them. */
const frame_bytes = 13 // {"events":[]}

/** The customer whose events are tracked, and how to reach the server. */
export type TrackerOptions = ClientOptions & {
  /** Initialized once. Every tracked event belongs to this customer and journey. */
  customer: Schemas['CustomerInitialization']
  /** Maximum number of events without an outcome. Default: 1000. */
  queueLimit?: number | undefined
}

/** An event as it was tracked. It survives `JSON.stringify`. */
export type TrackedEvent = Omit<Schemas['EventCreation'], 'journey_id' | 'customer_id'> & {
  message_id: string
}

export type TrackOptions = {
  /**
   * When the event happened. The tracker sets none: a wrong clock on the customer's device must not get events refused.
   */
  occurred_at?: string | undefined
  /** Idempotency key. Default: a new UUIDv7. When you track an event from `handOver` again, pass its own. */
  message_id?: string | undefined
  /**
   * Aborting rejects immediately with the signal's reason, and an event still in the queue is not sent. Other events in
   * its batch are unaffected: the request is cancelled only when all its events are aborted.
   */
  signal?: AbortSignal | undefined
}

/**
 * Sends the events of one customer in one journey, in the order they were tracked. One request runs at a time; it
 * carries all events that are waiting, up to 1000 events and 1 MB (`createEvents`, or `createEvent` for a single one).
 */
export type Tracker<Events extends object = AnyEvents> = {
  /**
   * Queues a copy of the event until the customer is initialized and the previous request has finished. Without
   * `occurred_at`, its time is when the server receives it.
   *
   * With the `Events` of `npx cairn-client types`, it takes only those, with their variables.
   *
   * Resolves like `createEvent`: with `{ data, response }` once the event is stored, or with `{ error, response }` if
   * it is refused. `response` belongs to the request, which may have carried other events too. One event never causes
   * another to be refused: if the server refuses a batch for its shape or size, the events are sent one by one. If
   * initialization fails, every waiting event gets that problem, and the next tracked event starts initialization
   * again.
   *
   * Rejects like `createEvent`, and immediately with
   * - `QueueFullError`, if `queueLimit` events have no outcome yet;
   * - `TrackerClosedError`, after `close`;
   * - a `TypeError` that names the value, if the variables are not JSON, such as `NaN`, `undefined`, a `Map` or a class
   *   instance.
   */
  readonly track: <Name extends EventName<Events>>(
    event_id: Name,
    ...rest: TrackArguments<Events[Name], TrackOptions>
  ) => Promise<OperationResult<'createEvent'>>

  /** Returns the outcome of the latest initialization. */
  readonly initialization: () => Promise<OperationResult<'initializeCustomer'>>

  /** Resolves when every event tracked so far has an outcome. */
  readonly flush: () => Promise<void>

  /** Refuses new events, and resolves when every event tracked so far has an outcome. */
  readonly close: () => Promise<void>

  /**
   * Call it when the page is hidden (`visibilitychange`) and in its `pagehide` handler: phones end pages in the background
   * without `pagehide`. It synchronously starts requests for the events without an outcome, which the browser finishes
   * after the page was closed (up to 64 KiB and 64 requests at a time, shared by all clients on the page). Events share
   * one request, so that they are stored in order and as many as possible fit. If the server refuses that request for the
   * shape of one event, such as an empty `event_id`, the others are lost with it: the page is no longer there to send them
   * one by one.
   *
   * Returns the events that were not sent, because they did not fit or the customer is not initialized yet. Save them
   * and track them on the next page with their `message_id`: an event that did arrive is not stored twice. The response
   * of a request that outlives its page is lost; if the page stays open after all, every event still gets its outcome.
   */
  readonly handOver: () => TrackedEvent[]
}

/** `queueLimit` events have no outcome yet; the event was not queued. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'

  constructor(queueLimit: number) {
    super(`The queue is full (${queueLimit} events). Track the event later, or raise queueLimit.`)
  }
}

/** The tracker is closed; the event was not queued. */
export class TrackerClosedError extends Error {
  override readonly name = 'TrackerClosedError'

  constructor() {
    super('The tracker is closed. Create a new one.')
  }
}

/** Creates a tracker and starts to initialize its customer. */
export function createTracker<Events extends object = AnyEvents>(options: TrackerOptions): Tracker<Events> {
  const { customer, queueLimit = 1000, fetch = globalThis.fetch } = options
  /** Signals of the requests in flight that outlive the page. */
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
  /** Events without an outcome, in the order they were tracked. */
  const queue = new Set<QueuedEvent>()
  /** The promises that `flush` waits for. */
  const outcomes = new Set<Promise<Outcome>>()
  let isClosed = false
  let isWorking = false
  /** Empty until the customer is initialized; no event is sent before that. */
  let customer_id = ''
  let initialization: Promise<OperationResult<'initializeCustomer'>>

  /** Initializes the customer if necessary, then sends batches until the queue is empty. */
  async function work() {
    isWorking = true
    try {
      if (!customer_id) initialization = client.initializeCustomer({ body: customer })
      const { data, error, response } = await initialization
      customer_id = data?.customer_id ?? ''
      if (error) settleAll(() => ({ error, response }))
      for (;;) {
        const waiting = [...queue].filter(({ call }) => !call)
        // A single event that is too large is sent too: the server's refusal is its outcome.
        const batch = takeBatch(waiting, (size_bytes, index) => !index || size_bytes <= batchLimit_bytes)
        if (!batch.length) break
        await send(batch)
      }
    } catch (error) {
      // A rejection per event: with an empty queue there is none that could go unhandled.
      settleAll(() => Promise.reject(error))
    }
    isWorking = false
  }

  function settleAll(outcome: () => Outcome | Promise<Outcome>) {
    for (const event of queue) event.settle(outcome())
  }

  /** Removes the longest prefix of `events` that fits into one request. Empty if the first event does not fit. */
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
   * Resolves when the request has finished, and, if the whole batch was refused, also the requests for its single
   * events. By then its events have their outcome, unless another request has taken them over.
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
    // A proxy that refuses the size sends its own error page, which rejects; the rejection may be anything.
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
        // A copy, because the caller may change its object while the event waits.
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
        // Not the same promise: a rejection that the caller ignores is reported even if flush has seen it.
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
    // It takes any events, so also those of `Events`.
  } satisfies Tracker as Tracker<Events>
}

/** Removes the event from the request that carries it, and cancels a request that has no event left. */
function leaveCall(event: QueuedEvent) {
  const { call } = event
  if (call?.events.delete(event) && call.events.size === 0) call.controller.abort()
}

/** Returns the outcome of one event, in the form of `createEvent`. */
function outcomeAt(index: number, { data, error, response }: Answer): Outcome {
  if (error) return { error, response }
  if ('received_at' in data) return { data, response }
  const { status, id, received_at, warnings, problem } = data.results[index] ?? {}
  if (problem) {
    return { error: { ...problem, request_id: response.headers.get('x-request-id') ?? '' }, response }
  }
  if (!id || !received_at) throw new UnexpectedResponseError(response, data)
  const created = { success: true, id, duplicate: status === 'duplicate', received_at } as const
  return { data: { ...created, ...(warnings && { warnings }) }, response }
}

type Outcome = OperationResult<'createEvent'>

type Answer = Outcome | OperationResult<'createEvents'>

type QueuedEvent = {
  tracked: TrackedEvent
  /** Sets the outcome of the event, once; a promise is followed. */
  settle: (outcome: Outcome | Promise<Outcome>) => void
  /** The latest request that carries the event; undefined while it waits. */
  call?: Call
}

/** A request, and those of its events that still wait for its response. */
type Call = { controller: AbortController; events: Set<QueuedEvent> }
