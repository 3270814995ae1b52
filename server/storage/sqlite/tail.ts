/**
 * The events that are stored but not in the indexes yet: in the memory of the writer, for the recognition of a
 * `message_id`, and in memory shared with the readers, for the timelines of customers.
 */

/** How many of the latest events the readers can look up; more than a tail ever has. */
const RING_EVENTS = 2 ** 19
const HEAD_BYTES = 8

/** The customer of each of the latest events, by the event's number; the writer writes it, readers read it. */
export class CustomerRing {
  readonly buffer: SharedArrayBuffer
  readonly #head: BigInt64Array
  readonly #customers: Uint32Array

  constructor(buffer = new SharedArrayBuffer(HEAD_BYTES + RING_EVENTS * Uint32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#head = new BigInt64Array(buffer, 0, 1)
    this.#customers = new Uint32Array(buffer, HEAD_BYTES)
  }

  set(seq: number, customer_ref: number): void {
    this.#customers[seq % RING_EVENTS] = customer_ref
  }

  /** Lets readers see what was set up to here. To be called before the commit that makes the events visible. */
  publish(seq: number): void {
    Atomics.store(this.#head, 0, BigInt(seq))
  }

  /**
   * Numbers behind `seq` that may be events of the customer, among them all that are: a number may have been rolled
   * back or belong to somebody else since.
   */
  behind(seq: number, customer_ref: number): number[] {
    const found: number[] = []
    const last = Number(Atomics.load(this.#head, 0))
    for (let at = seq + 1; at <= last; at += 1) {
      if (this.#customers[at % RING_EVENTS] === customer_ref) found.push(at)
    }
    // A reader that was held up for so long that the writer came round: it must look at every event.
    const now = Number(Atomics.load(this.#head, 0))
    return now - seq < RING_EVENTS ? found : Array.from({ length: last - seq }, (_, index) => seq + 1 + index)
  }
}

/** What the indexes will say of an event. */
export type TailEvent = {
  seq: number
  customer_ref: number
  /** When it occurred, or else was received. */
  at_ms: number
  message_key: number | null
}

/** What nearly every look-up finds, made once. */
const NONE: readonly number[] = []

/** Events with successive numbers. */
export class Segment {
  readonly firstSeq: number
  length = 0
  customers = new Uint32Array(1024)
  times = new Float64Array(1024)
  /** -1 where there is none. */
  keys = new Float64Array(1024)
  /** Open addressing: one more than the place of an event, by its key. */
  #slots = new Int32Array(4096)

  constructor(firstSeq: number) {
    this.firstSeq = firstSeq
  }

  append({ customer_ref, at_ms, message_key }: Omit<TailEvent, 'seq'>): void {
    if (this.length === this.keys.length) this.#grow()
    this.customers[this.length] = customer_ref
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
    this.customers = grown(this.customers, new Uint32Array(this.customers.length * 2))
    this.times = grown(this.times, new Float64Array(this.times.length * 2))
    this.keys = grown(this.keys, new Float64Array(this.keys.length * 2))
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

/** The whole tail: what is being indexed, and what has arrived since that began. */
export class Tail {
  readonly #ring: CustomerRing
  /** Undefined while nothing is being indexed. */
  indexing: Segment | undefined
  arriving: Segment

  constructor(ring: CustomerRing, indexed_seq: number) {
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

  append(event: TailEvent): void {
    this.arriving.append(event)
    this.#ring.set(event.seq, event.customer_ref)
  }

  publish(): void {
    this.#ring.publish(this.nextSeq - 1)
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

  /** Begins to index what has arrived. */
  beginIndexing(): Segment {
    this.indexing = this.arriving
    this.arriving = new Segment(this.nextSeq)
    return this.indexing
  }

  /** Forgets what has been indexed. */
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
