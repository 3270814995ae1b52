import { randomBytes } from 'node:crypto'
import { type Hash64, halfSipHash, textWords } from '../../domain/half-sip-hash.ts'
import type { Bucket, LimitCounts, Share } from './limit-counts.ts'
import { SharedLock } from './shared-lock.ts'

/** So many are remembered: of those whose names fall to one place, so many that were used last. */
const PLACES = { buckets: 4_096, shares: 16_384 }
const OF_A_PLACE = 8

/** A record is its name as a number, the instant of its last use, and three numbers more. 0 is no name: it is free. */
const FIELDS = 5

/** Memory for the counts, to be given to every thread that shares them. */
export type SharedCountsMemory = {
  lock: SharedArrayBuffer
  /** Under which names are kept, so that nobody can choose two that fall together. */
  secret: Hash64
  buckets: SharedArrayBuffer
  shares: SharedArrayBuffer
}

export function sharedCountsMemory(): SharedCountsMemory {
  const bytesOf = (places: number) => places * OF_A_PLACE * FIELDS * Float64Array.BYTES_PER_ELEMENT
  const random = randomBytes(8)
  return {
    lock: SharedLock.memory(),
    secret: { low: random.readInt32LE(0), high: random.readInt32LE(4) },
    buckets: new SharedArrayBuffer(bytesOf(PLACES.buckets)),
    shares: new SharedArrayBuffer(bytesOf(PLACES.shares)),
  }
}

/**
 * Counts that several threads share, so that a key has its one rate whichever of them serves it. They take as much memory
 * as is used of 8 MB.
 */
export class SharedCounts implements LimitCounts {
  readonly #lock: SharedLock
  readonly #secret: Hash64
  readonly #buckets: Float64Array
  readonly #shares: Float64Array

  constructor({ lock, secret, buckets, shares }: SharedCountsMemory) {
    this.#lock = new SharedLock(lock)
    this.#secret = secret
    this.#buckets = new Float64Array(buckets)
    this.#shares = new Float64Array(shares)
  }

  alone<Result>(work: () => Result): Result {
    return this.#lock.hold(work)
  }

  bucket(name: string): Bucket | undefined {
    const at = find(this.#buckets, this.#numberOf(name))
    return at === undefined ? undefined : bucketAt(this.#buckets, at)
  }

  keepBucket(
    name: string,
    { filled_ms, open, kept, rate }: Bucket,
    isFull: (bucket: Bucket) => boolean,
  ): void {
    const mayGo = (at: number) => isFull(bucketAt(this.#buckets, at))
    write(this.#buckets, this.#numberOf(name), [filled_ms, open, kept, rate], mayGo)
  }

  share(name: string): Share | undefined {
    const at = find(this.#shares, this.#numberOf(name))
    return at === undefined ? undefined : shareAt(this.#shares, at)
  }

  keepShare(name: string, { filled_ms, kept, refused }: Share): void {
    write(this.#shares, this.#numberOf(name), [filled_ms, kept, refused, 0], () => false)
  }

  /** 53 bits, never 0. */
  #numberOf(name: string): number {
    const { low, high } = halfSipHash(this.#secret, textWords(name))
    return (high & 0x1f_ffff) * 0x1_0000_0000 + low || 1
  }
}

/** The numbers of a record: the instant of its last use, and three more. */
type Numbers = [number, number, number, number]

function bucketAt(records: Float64Array, at: number): Bucket {
  return {
    filled_ms: field(records, at, 1),
    open: field(records, at, 2),
    kept: field(records, at, 3),
    rate: field(records, at, 4),
  }
}

function shareAt(records: Float64Array, at: number): Share {
  return { filled_ms: field(records, at, 1), kept: field(records, at, 2), refused: field(records, at, 3) }
}

function field(records: Float64Array, at: number, index: number): number {
  return records[at + index] as number
}

/** Where the records of a name's place begin. */
function placeOf(records: Float64Array, name: number): number {
  return (name % (records.length / OF_A_PLACE / FIELDS)) * OF_A_PLACE * FIELDS
}

/** Where the record with the name begins. */
function find(records: Float64Array, name: number): number | undefined {
  const start = placeOf(records, name)
  for (let at = start; at < start + OF_A_PLACE * FIELDS; at += FIELDS) if (records[at] === name) return at
  return undefined
}

/** In the place of the record with the name; else of one that may go, or was used longest ago where none may. */
function write(
  records: Float64Array,
  name: number,
  [used_ms, second, third, fourth]: Numbers,
  mayGo: (at: number) => boolean,
): void {
  const at = find(records, name) ?? freeIn(records, placeOf(records, name), mayGo)
  records[at] = name
  records[at + 1] = used_ms
  records[at + 2] = second
  records[at + 3] = third
  records[at + 4] = fourth
}

function freeIn(records: Float64Array, start: number, mayGo: (at: number) => boolean): number {
  let oldest = start
  for (let at = start; at < start + OF_A_PLACE * FIELDS; at += FIELDS) {
    if (records[at] === 0 || mayGo(at)) return at
    if (field(records, at, 1) < field(records, oldest, 1)) oldest = at
  }
  return oldest
}
