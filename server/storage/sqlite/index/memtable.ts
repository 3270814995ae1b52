/**
 * The events that are stored but not in a run yet: in the memory of the writer, for the recognition of a `message_id` and
 * to make the next run of, and in memory shared with the readers, for lists.
 */

/** What the indexes will say of an event. */
export type TailEvent = {
  seq: number
  workspace_ref: number
  journey_ref: number
  customer_ref: number
  /** The hash of its name. */
  name: number
  /** When it occurred, or else was received. */
  at_ms: number
  message_key: number | null
}

/** So many of the latest events are shared with readers. */
export const RING_EVENTS = 2 ** 18

/**
 * With so many events in the tail nothing more is taken. It never comes to that, but where the indexes cannot be filled:
 * otherwise they are filled faster than events can arrive.
 */
export const GREATEST_TAIL_EVENTS = RING_EVENTS / 2

const HEAD_BYTES = 8
const COLUMNS = ['workspaces', 'journeys', 'customers', 'names'] as const
const RING_BYTES =
  HEAD_BYTES + RING_EVENTS * (Float64Array.BYTES_PER_ELEMENT + COLUMNS.length * Uint32Array.BYTES_PER_ELEMENT)

/** What a list is narrowed to, as the tail knows it; what is absent may be anything. */
export type TailFilter = { workspace?: number; journey?: number; customer?: number; name?: number }

/**
 * What the indexes will say of the latest events, by their numbers. The writer writes it before the commit that makes an
 * event visible, so a reader finds there whatever its transaction sees; what it does not see may be rolled back.
 */
export class TailRing {
  readonly buffer: SharedArrayBuffer
  /** All slots up to this number may have been overwritten. */
  readonly #reserved: BigInt64Array
  readonly #times: Float64Array
  readonly #workspaces: Uint32Array
  readonly #journeys: Uint32Array
  readonly #customers: Uint32Array
  readonly #names: Uint32Array

  constructor(buffer = new SharedArrayBuffer(RING_BYTES)) {
    this.buffer = buffer
    this.#reserved = new BigInt64Array(buffer, 0, 1)
    this.#times = new Float64Array(buffer, HEAD_BYTES, RING_EVENTS)
    const columns = HEAD_BYTES + RING_EVENTS * Float64Array.BYTES_PER_ELEMENT
    const column = (index: number) =>
      new Uint32Array(buffer, columns + index * RING_EVENTS * Uint32Array.BYTES_PER_ELEMENT, RING_EVENTS)
    this.#workspaces = column(0)
    this.#journeys = column(1)
    this.#customers = column(2)
    this.#names = column(3)
  }

  /** To be called before slots up to this number are written. */
  reserve(seq: number): void {
    Atomics.store(this.#reserved, 0, BigInt(seq))
  }

  set({ seq, workspace_ref, journey_ref, customer_ref, name, at_ms }: TailEvent): void {
    const slot = seq % RING_EVENTS
    this.#times[slot] = at_ms
    this.#workspaces[slot] = workspace_ref
    this.#journeys[slot] = journey_ref
    this.#customers[slot] = customer_ref
    this.#names[slot] = name
  }

  /** Whether the slots behind a number still are those of the numbers behind it. To be asked after they were read. */
  isIntactBehind(seq: number): boolean {
    return Number(Atomics.load(this.#reserved, 0)) - seq <= RING_EVENTS
  }

  at_ms(seq: number): number {
    return this.#times[seq % RING_EVENTS] as number
  }

  journey(seq: number): number {
    return this.#journeys[seq % RING_EVENTS] as number
  }

  customer(seq: number): number {
    return this.#customers[seq % RING_EVENTS] as number
  }

  /** The hash of its name. */
  name(seq: number): number {
    return this.#names[seq % RING_EVENTS] as number
  }

  /** The greatest number from `from` down to `to` of an event that the filter lets through; -1 where there is none. */
  lastMatch(filter: TailFilter, from: number, to: number): number {
    for (let seq = from; seq >= to; seq -= 1) if (this.#matches(filter, seq)) return seq
    return -1
  }

  /** The least number from `from` up to `to` of such an event; -1 where there is none. */
  firstMatch(filter: TailFilter, from: number, to: number): number {
    for (let seq = from; seq <= to; seq += 1) if (this.#matches(filter, seq)) return seq
    return -1
  }

  #matches({ workspace, journey, customer, name }: TailFilter, seq: number): boolean {
    const slot = seq % RING_EVENTS
    if (customer !== undefined && this.#customers[slot] !== customer) return false
    if (journey !== undefined && this.#journeys[slot] !== journey) return false
    if (name !== undefined && this.#names[slot] !== name) return false
    return workspace === undefined || this.#workspaces[slot] === workspace
  }
}

/** What nearly every look-up finds, made once. */
const NONE: readonly number[] = []

/** Events with successive numbers. */
export class Segment {
  readonly firstSeq: number
  length = 0
  workspaces = new Uint32Array(1024)
  journeys = new Uint32Array(1024)
  customers = new Uint32Array(1024)
  names = new Uint32Array(1024)
  times = new Float64Array(1024)
  /** Of the messages; -1 where there is none. */
  keys = new Float64Array(1024)
  /** Open addressing: one more than the place of an event, by its key. */
  #slots = new Int32Array(4096)

  constructor(firstSeq: number) {
    this.firstSeq = firstSeq
  }

  append(event: TailEvent): void {
    if (this.length === this.keys.length) this.#grow()
    const { workspace_ref, journey_ref, customer_ref, name, at_ms, message_key } = event
    this.workspaces[this.length] = workspace_ref
    this.journeys[this.length] = journey_ref
    this.customers[this.length] = customer_ref
    this.names[this.length] = name
    this.times[this.length] = at_ms
    this.keys[this.length] = message_key ?? -1
    if (message_key !== null) this.#enter(this.length, message_key)
    this.length += 1
  }

  /** Numbers of the events with this key. */
  find(key: number): readonly number[] {
    let found = NONE
    const mask = this.#slots.length - 1
    for (let slot = slotOf(key) & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] as number) - 1
      if (place === -1) return found
      if (this.keys[place] === key) found = [...found, this.firstSeq + place]
    }
  }

  /** Forgets all from this number on. */
  cut(seq: number): void {
    if (this.firstSeq + this.length <= seq) return
    this.length = seq - this.firstSeq
    this.#enterAll()
  }

  #grow() {
    this.workspaces = grown(this.workspaces, new Uint32Array(this.length * 2))
    this.journeys = grown(this.journeys, new Uint32Array(this.length * 2))
    this.customers = grown(this.customers, new Uint32Array(this.length * 2))
    this.names = grown(this.names, new Uint32Array(this.length * 2))
    this.times = grown(this.times, new Float64Array(this.length * 2))
    this.keys = grown(this.keys, new Float64Array(this.length * 2))
    this.#slots = new Int32Array(this.#slots.length * 2)
    this.#enterAll()
  }

  #enterAll() {
    this.#slots.fill(0)
    for (let place = 0; place < this.length; place += 1) {
      const key = this.keys[place] as number
      if (key !== -1) this.#enter(place, key)
    }
  }

  #enter(place: number, key: number) {
    const mask = this.#slots.length - 1
    let slot = slotOf(key) & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = place + 1
  }
}

/** The whole tail: what a run is being made of, and what has arrived since that began. */
export class Tail {
  readonly #ring: TailRing
  /** Undefined while no run is being made. */
  indexing: Segment | undefined
  arriving: Segment

  constructor(ring: TailRing, indexed_seq: number) {
    this.#ring = ring
    this.arriving = new Segment(indexed_seq + 1)
  }

  get length(): number {
    return (this.indexing?.length ?? 0) + this.arriving.length
  }

  /** The number that the next event gets. */
  get nextSeq(): number {
    return this.arriving.firstSeq + this.arriving.length
  }

  /** To be called before so many events may be appended. */
  reserve(events: number): void {
    this.#ring.reserve(this.nextSeq - 1 + events)
  }

  append(event: TailEvent): void {
    this.arriving.append(event)
    this.#ring.set(event)
  }

  /** Appends what stands for an event that was removed: nobody's, under the next number. */
  appendRemoved(): void {
    const nobody = { workspace_ref: 0, journey_ref: 0, customer_ref: 0, name: 0, at_ms: 0, message_key: null }
    this.append({ seq: this.nextSeq, ...nobody })
  }

  /** Numbers of the events with this key. */
  find(message_key: number): readonly number[] {
    const found = this.arriving.find(message_key)
    const before = this.indexing?.find(message_key) ?? NONE
    return before.length === 0 ? found : [...before, ...found]
  }

  /** Forgets events from this number on, which were not committed. */
  cut(seq: number): void {
    this.arriving.cut(seq)
  }

  /** Begins to make a run of what has arrived. */
  beginIndexing(): Segment {
    this.indexing = this.arriving
    this.arriving = new Segment(this.nextSeq)
    return this.indexing
  }

  /** Forgets what is in a run. */
  endIndexing(): void {
    this.indexing = undefined
  }
}

/** The low bits of a key are those of its hash. */
function slotOf(key: number): number {
  return Math.imul((key % 2 ** 32) | 0, 0x9e3779b1) >>> 8
}

function grown<Values extends Uint32Array | Float64Array>(values: Values, larger: Values): Values {
  larger.set(values)
  return larger
}
