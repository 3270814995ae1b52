import type { Key, ReachedStep, Standing } from '../../domain/journey-standing.ts'
import type { PageRow } from './standing-store.ts'
import { packTimes, pageTimes, TimesReader } from './standing-times.ts'

/** Limit of standings in a page: few to write when one changes, enough to read many in a row. */
export const PAGE_STANDINGS = 64

/** An encoded standing: its times, and the events that fill its steps. */
type Packed = { customer: Key; times: Uint8Array; fills: Uint8Array }

const reader = new TimesReader()

/**
 * The standings of consecutive customers of a journey, for look-ups and changes. What does not change is never decoded.
 * The `keys` of its row are the customers, followed by the events that fill the steps, standing by standing; each takes
 * half as many bytes as its key has digits.
 */
export class StandingPage {
  /** By customer. */
  readonly #standings: Packed[]
  /** A time near the entries; entries are encoded as differences from it. */
  #base_ms: number | undefined
  #grewOnlyAtEnd = true

  /** @param row omitted for an empty page */
  constructor(row?: PageRow) {
    this.#standings = row ? unpack(row) : []
    if (row) this.#base_ms = reader.base_ms
  }

  get size(): number {
    return this.#standings.length
  }

  get(customer: Key): Standing | undefined {
    const packed = this.#standings[this.#indexOf(customer)]
    return packed?.customer === customer ? this.#standingOf(packed) : undefined
  }

  set(customer: Key, standing: Standing): void {
    this.#base_ms ??= standing.entered_ms
    const fills = keyBytes(standing.reached.map(({ id }) => id))
    const packed = { customer, times: packTimes(standing, this.#base_ms), fills }
    const index = this.#indexOf(customer)
    const isThere = this.#standings[index]?.customer === customer
    if (!isThere && index < this.#standings.length) this.#grewOnlyAtEnd = false
    this.#standings.splice(index, isThere ? 1 : 0, packed)
  }

  delete(customer: Key): void {
    const index = this.#indexOf(customer)
    if (this.#standings[index]?.customer === customer) this.#standings.splice(index, 1)
  }

  /** All standings, by customer. */
  *standings(): Generator<{ customer: Key; standing: Standing }> {
    for (const packed of this.#standings) {
      yield { customer: packed.customer, standing: this.#standingOf(packed) }
    }
  }

  /**
   * The rows to write: several if the page has outgrown one, none if it is empty. A page that grew at its end,
   * where new customers arrive, splits into full pages; otherwise into halves.
   */
  rows(): PageRow[] {
    const count = this.#standings.length
    const pages = Math.ceil(count / PAGE_STANDINGS)
    const size = this.#grewOnlyAtEnd ? PAGE_STANDINGS : Math.ceil(count / pages)
    return Array.from({ length: pages }, (_, page) =>
      this.#row(this.#standings.slice(page * size, (page + 1) * size)),
    )
  }

  #row(standings: readonly Packed[]): PageRow {
    const customers = standings.map(({ customer }) => customer)
    return {
      first: customers[0] ?? '',
      times: pageTimes({ base_ms: this.#base_ms ?? 0, standings: standings.map(({ times }) => times) }),
      keys: Buffer.concat([keyBytes(customers), ...standings.map(({ fills }) => fills)]),
    }
  }

  #standingOf({ times, fills }: Packed): Standing {
    const base_ms = this.#base_ms ?? 0
    reader.open(pageTimes({ base_ms, standings: [times] }))
    reader.next()
    const ids = keysOf(fills, reader.reached)
    let at_ms = reader.entered_ms
    const reached: ReachedStep[] = ids.map((id, step) => {
      at_ms += reader.gaps_ms[step] ?? 0
      return { at_ms, id }
    })
    return {
      customer_type: reader.isContact ? 'contact' : 'account',
      entered_ms: reader.entered_ms,
      reached,
      early: [...reader.early.subarray(0, reader.earlyCount)],
    }
  }

  /** The index of a customer, or its insertion point. */
  #indexOf(customer: Key): number {
    let [low, high] = [0, this.#standings.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#standings[middle]?.customer ?? '') < customer) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Finds the standings in a row; the reader ends after the last one. */
function unpack({ first, times, keys }: PageRow): Packed[] {
  const width = first.length / 2
  reader.open(times)
  const customers = keysOf(keys.subarray(0, reader.count * width), reader.count)
  let fillsFrom = reader.count * width
  return customers.map((customer) => {
    const from = reader.position
    reader.next()
    const fills = keys.subarray(fillsFrom, fillsFrom + reader.reached * width)
    fillsFrom += fills.length
    return { customer, times: times.subarray(from, reader.position), fills }
  })
}

function keyBytes(keys: readonly Key[]): Uint8Array {
  return Buffer.from(keys.join(''), 'hex')
}

/** Decodes a number of keys of equal width. */
function keysOf(bytes: Uint8Array, count: number): Key[] {
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  const width = digits.length / count
  return Array.from({ length: count }, (_, index) => digits.slice(index * width, (index + 1) * width))
}
