// engines: none (opens no store)

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter, NUMBER_BYTES } from '../../../server/domain/varint.ts'
import { KeyFilter } from '../../../server/storage/sqlite/index/bloom-filter.ts'
import { PostingPacker, postingsBelow } from '../../../server/storage/sqlite/index/postings.ts'
import { PAGE_BYTES, type Run } from '../../../server/storage/sqlite/index/run.ts'
import {
  TimelineCursor,
  TimelinePacker,
  timelineBefore,
} from '../../../server/storage/sqlite/index/timeline.ts'

const FIRST_SEQ = 5_000_000

/** A run without its pages. */
const outline: Run = {
  run: 1,
  level: 0,
  first_seq: FIRST_SEQ,
  last_seq: FIRST_SEQ + 1_000_000,
  greatest_at_ms: 0,
  messages: 0,
  postings: { firsts: new Float64Array(), seconds: new Float64Array() },
  timeline: { firsts: new Float64Array(), seconds: new Float64Array() },
}

describe('numbers as bytes', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.maxSafeNat()),
        fc.array(fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 })),
        (a, b) => {
          const numbers = [...a, 0, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]
          const writer = new ByteWriter(NUMBER_BYTES * (numbers.length + b.length))
          for (const number of numbers) writer.number(number)
          for (const number of b) writer.signed(number)
          const reader = new ByteReader(writer.take())
          expect(numbers.map(() => reader.number())).toEqual(numbers)
          expect(b.map(() => reader.signed())).toEqual(b)
          expect(reader.isAtEnd).toBe(true)
        },
      ),
    )
  })
})

describe('postings', () => {
  /** Keys with the numbers of their events: some have one event, some fill many pages. */
  const lists = fc.dictionary(
    fc.oneof(fc.nat(20), fc.nat(2 ** 50)).map(String),
    fc.record({ count: fc.oneof(fc.constant(1), fc.nat(9000)), step: fc.integer({ min: 1, max: 300 }) }),
    { minKeys: 1, maxKeys: 40, noNullPrototype: true },
  )

  it('are found by key, below a number, latest first', () => {
    fc.assert(
      fc.property(lists, fc.nat(40), fc.nat(3_000_000), (sizes, which, below) => {
        const keys = Object.keys(sizes)
          .map(Number)
          .toSorted((a, b) => a - b)
        const seqsOf = (key: number) => {
          const { count, step } = sizes[key] ?? { count: 0, step: 1 }
          return Array.from(
            { length: Math.max(1, count) },
            (_, index) => FIRST_SEQ + (key % 7) + index * step,
          )
        }
        const pages: Buffer[] = []
        const packer = new PostingPacker(FIRST_SEQ, (bytes) => pages.push(bytes))
        for (const key of keys) for (const seq of seqsOf(key)) packer.add(key, seq)
        const run = { ...outline, postings: packer.end() }
        expect(pages.length).toBe(run.postings.firsts.length)
        expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(PAGE_BYTES)

        const key = keys[which % keys.length] ?? 0
        const read = (key: number, below: number) => [
          ...postingsBelow(run, (_run, _part, index) => pages[index] as Buffer, { key, below }),
        ]
        const expected = seqsOf(key).toReversed()
        expect(read(key, Number.POSITIVE_INFINITY)).toEqual(expected)
        expect(read(key, FIRST_SEQ + below)).toEqual(expected.filter((seq) => seq < FIRST_SEQ + below))
        expect(read(key + 0.5, Number.POSITIVE_INFINITY)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

describe('timelines', () => {
  it('are found by customer, before a position, latest first', () => {
    const entry = fc.record({
      customer: fc.oneof(fc.nat(2), fc.nat(2 ** 31)),
      at_ms: fc.oneof(fc.nat(3), fc.integer({ min: -(2 ** 41), max: 2 ** 41 })),
      seq: fc.nat(1_000_000).map((place) => FIRST_SEQ + place),
    })
    const entries = fc.uniqueArray(entry, {
      minLength: 1,
      maxLength: 3000,
      size: 'max',
      selector: ({ seq }) => seq,
    })
    fc.assert(
      fc.property(entries, fc.nat(), fc.nat(), (found, who, where) => {
        const order = found.toSorted((a, b) => a.customer - b.customer || a.at_ms - b.at_ms || a.seq - b.seq)
        const pages: Buffer[] = []
        const packer = new TimelinePacker(FIRST_SEQ, (bytes) => pages.push(bytes))
        for (const { customer, at_ms, seq } of order) packer.add(customer, at_ms, seq)
        const run = { ...outline, timeline: packer.end() }
        expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(PAGE_BYTES)

        const { customer } = order[who % order.length] ?? { customer: 0 }
        const own = order.filter((entry) => entry.customer === customer).toReversed()
        const read = (before: { at_ms: number; seq: number }) => [
          ...timelineBefore(run, (_run, _part, index) => pages[index] as Buffer, { customer, before }),
        ]
        const shown = own.map(({ at_ms, seq }) => ({ at_ms, seq }))
        const infinite = { at_ms: Number.POSITIVE_INFINITY, seq: Number.POSITIVE_INFINITY }
        expect(read(infinite)).toEqual(shown)
        const position = shown[where % shown.length] ?? infinite
        expect(read(position)).toEqual(shown.slice(shown.indexOf(position) + 1))
      }),
      { numRuns: 60 },
    )
  })

  it('are read forward from a time, also if the events of an instant fill several pages', () => {
    const customers = [1, 2, 3]
    const order = customers.flatMap((customer) =>
      [10, 20, 30].flatMap((at_ms) => Array.from({ length: 4_000 }, () => ({ customer, at_ms }))),
    )
    const pages: Buffer[] = []
    const packer = new TimelinePacker(FIRST_SEQ, (bytes) => pages.push(bytes))
    for (const [place, { customer, at_ms }] of order.entries()) packer.add(customer, at_ms, FIRST_SEQ + place)
    const run = { ...outline, timeline: packer.end() }
    for (const from_ms of [9, 10, 11, 20, 30, 31]) {
      const cursor = new TimelineCursor(run, (_run, _part, index) => pages[index] as Buffer)
      const counts = customers.map((customer) => {
        let count = 0
        for (cursor.seek(customer, from_ms); cursor.customer === customer; cursor.next()) count += 1
        return count
      })
      const expected = order.filter(({ customer, at_ms }) => customer === 1 && at_ms >= from_ms).length
      expect(counts).toEqual(customers.map(() => expected))
    }
  })
})

describe('the filter of a run', () => {
  it.each([1, 2, 42, 43, 1_000])('of %i keys matches all of them', (count) => {
    const keys = Array.from({ length: count }, (_, index) => 123_456_789 * 2 ** 18 + index)
    const filter = KeyFilter.forKeys(count)
    for (const key of keys) filter.add(key)
    expect(keys.every((key) => filter.mayHave(key))).toBe(true)
  })

  it('matches all of its keys, and few others', () => {
    const keys = (from: number) => Array.from({ length: 50_000 }, (_, index) => from + index * 3)
    // Adjacent keys, like those of messages from the same time, and keys spread by their hash.
    for (const own of [
      keys(123_456_789 * 2 ** 18),
      keys(0).map((index) => (index * 7_919 * 2 ** 13) % 2 ** 45),
    ]) {
      const filter = KeyFilter.forKeys(own.length)
      for (const key of own) filter.add(key)
      const stored = KeyFilter.ofPages(filter.pages())
      expect(own.every((key) => stored.mayHave(key))).toBe(true)
      const others = own.map((key) => key + 1)
      expect(others.filter((key) => stored.mayHave(key)).length).toBeLessThan(others.length / 50)
    }
  })

  it('without keys matches nothing', () => {
    expect(KeyFilter.ofPages(KeyFilter.forKeys(0).pages()).mayHave(1)).toBe(false)
  })
})
