/**
 * The memtable: the events that are stored but not in a run yet. They are in the writer's memory, for deduplication by
 * `message_id` and for the next run, and in memory shared with the readers, for lists.
 */

/** The index entries of an event. */
export type MemtableEvent = {
  seq: number
  workspace_ref: number
  journey_ref: number
  customer_ref: number
  /** Hash of its name. */
  name: number
  /** When it occurred, otherwise when it was received. */
  at_ms: number
  message_key: number | null
}

/** Number of latest events shared with the readers. */
export const RING_EVENTS = 2 ** 18

/**
 * Maximum events in the memtable; at that point writes are refused. It is never reached unless flushing fails, because
 * flushing is faster than events can arrive.
 */
export const GREATEST_MEMTABLE_EVENTS = RING_EVENTS / 2

const HEAD_BYTES = 8
const COLUMNS = ['workspaces', 'journeys', 'customers', 'names'] as const
const RING_BYTES =
  HEAD_BYTES + RING_EVENTS * (Float64Array.BYTES_PER_ELEMENT + COLUMNS.length * Uint32Array.BYTES_PER_ELEMENT)

/** Conditions of a list that the memtable can check; an absent one matches everything. */
export type MemtableFilter = { workspace?: number; journey?: number; customer?: number; name?: number }

/**
 * A ring buffer with the index entries of the latest events, by their numbers. The writer fills it before the commit
 * that makes an event visible, so a reader finds everything that its transaction sees; what it does not see may be
 * rolled back.
 */
export class MemtableRing {
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

  /** Must be called before slots up to this number are written. */
  reserve(seq: number): void {
    // Not less: slots of a group that was rolled back were written too.
    if (seq > Number(Atomics.load(this.#reserved, 0))) Atomics.store(this.#reserved, 0, BigInt(seq))
  }

  set({ seq, workspace_ref, journey_ref, customer_ref, name, at_ms }: MemtableEvent): void {
    const slot = seq % RING_EVENTS
    this.#times[slot] = at_ms
    this.#workspaces[slot] = workspace_ref
    this.#journeys[slot] = journey_ref
    this.#customers[slot] = customer_ref
    this.#names[slot] = name
  }

  /** Whether the slots after a number still belong to their events. Must be checked after reading them. */
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

  /** Hash of its name. */
  name(seq: number): number {
    return this.#names[seq % RING_EVENTS] as number
  }

  /** Returns the greatest number from `from` down to `to` of a matching event; -1 if there is none. */
  lastMatch(filter: MemtableFilter, from: number, to: number): number {
    for (let seq = from; seq >= to; seq -= 1) if (this.#matches(filter, seq)) return seq
    return -1
  }

  /** Returns the least number from `from` up to `to` of a matching event; -1 if there is none. */
  firstMatch(filter: MemtableFilter, from: number, to: number): number {
    for (let seq = from; seq <= to; seq += 1) if (this.#matches(filter, seq)) return seq
    return -1
  }

  #matches({ workspace, journey, customer, name }: MemtableFilter, seq: number): boolean {
    const slot = seq % RING_EVENTS
    if (customer !== undefined && this.#customers[slot] !== customer) return false
    if (journey !== undefined && this.#journeys[slot] !== journey) return false
    if (name !== undefined && this.#names[slot] !== name) return false
    return workspace === undefined || this.#workspaces[slot] === workspace
  }
}

/** The result of nearly every lookup, allocated once. */
const NONE: readonly number[] = []

/** Events with consecutive numbers. */
export class Segment {
  readonly firstSeq: number
  length = 0
  workspaces = new Uint32Array(1024)
  journeys = new Uint32Array(1024)
  customers = new Uint32Array(1024)
  names = new Uint32Array(1024)
  times = new Float64Array(1024)
  /** Message keys; -1 for none. */
  keys = new Float64Array(1024)
  /** Hash table with open addressing, by message key: the position of an event plus one. */
  #slots = new Int32Array(4096)

  constructor(firstSeq: number) {
    this.firstSeq = firstSeq
  }

  append(event: MemtableEvent): void {
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

  /** Returns the numbers of the events with this key. */
  find(key: number): readonly number[] {
    let found = NONE
    const mask = this.#slots.length - 1
    for (let slot = slotOf(key) & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] as number) - 1
      if (place === -1) return found
      if (this.keys[place] === key) found = [...found, this.firstSeq + place]
    }
  }

  /** Removes everything from this number on. */
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

/** The whole memtable: the segment that is being flushed, and the one that receives new events. */
export class Memtable {
  readonly #ring: MemtableRing
  /** Undefined if no segment is being flushed. */
  indexing: Segment | undefined
  arriving: Segment
  /** The number after the last committed one. */
  #committedSeq: number

  constructor(ring: MemtableRing, indexed_seq: number) {
    this.#ring = ring
    this.arriving = new Segment(indexed_seq + 1)
    this.#committedSeq = this.nextSeq
  }

  get length(): number {
    return (this.indexing?.length ?? 0) + this.arriving.length
  }

  /** The number of the next event. */
  get nextSeq(): number {
    return this.arriving.firstSeq + this.arriving.length
  }

  /** Must be called before this many events are appended. */
  begin(events: number): void {
    this.#ring.reserve(this.nextSeq - 1 + events)
  }

  append(event: MemtableEvent): void {
    this.arriving.append(event)
    this.#ring.set(event)
  }

  /** Appends a placeholder for an event that was removed, under the next number. */
  appendRemoved(): void {
    const nobody = { workspace_ref: 0, journey_ref: 0, customer_ref: 0, name: 0, at_ms: 0, message_key: null }
    this.append({ seq: this.nextSeq, ...nobody })
  }

  /** Returns the numbers of the events with this key. */
  find(message_key: number): readonly number[] {
    const found = this.arriving.find(message_key)
    const before = this.indexing?.find(message_key) ?? NONE
    return before.length === 0 ? found : [...before, ...found]
  }

  /** Call when everything appended is on disk. */
  committed(): void {
    this.#committedSeq = this.nextSeq
  }

  /** Drops what was not committed. */
  forget(): void {
    this.arriving.cut(this.#committedSeq)
  }

  /** Starts to flush what has arrived. */
  beginIndexing(): Segment {
    this.indexing = this.arriving
    this.arriving = new Segment(this.nextSeq)
    return this.indexing
  }

  /** Drops the flushed segment. */
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
