// engines: sqlite (what only SQLite has)

import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { NewEvent } from '../../../server/storage/events/event-store.ts'
import { openReadable } from '../../../server/storage/sqlite/connection.ts'
import {
  GREATEST_MEMTABLE_EVENTS,
  type MemtableEvent,
  MemtableRing,
} from '../../../server/storage/sqlite/index/memtable.ts'
import { EventReader, type EventsRequest } from '../../../server/storage/sqlite/reader/event-reader.ts'
import { WritingConnection } from '../../../server/storage/sqlite/writer/writing-connection.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { connect, openStore, openStoreForTest } from '../../fixtures/file-store.ts'
import { idOf, initialize, insert, newEvent, newSubject, type Subject } from '../../fixtures/store.ts'

/** After this many events a slot of the ring is used again. */
const ROUND = 2 * GREATEST_MEMTABLE_EVENTS

describe('a stored message that is in no run', () => {
  it('is recognized after a restart, whatever its form', async () => {
    const uuid = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
    const ofTime = '0192f5a4-7c1e-7b3d-8a9f-0123456789ab'
    const message_ids = [uuid, uuid.toUpperCase(), ofTime, ofTime.toUpperCase(), 'm-1', 'M-1', '語']
    const path = join(temporaryFolder(), 'cairn.db')
    const before = await openStore({ path })
    const subject = await newSubject(before)
    const first = await Promise.all(message_ids.map((message_id) => insert(before, subject, { message_id })))
    expect(before.statistics().unindexedEvents).toBe(message_ids.length)
    await before.close()
    const after = await openStoreForTest({ path })
    for (const [index, message_id] of message_ids.entries()) {
      const again = await insert(after, subject, { message_id })
      expect(again, message_id).toMatchObject({ status: 'duplicate', id: idOf(first[index] ?? again) })
      const other = await insert(after, subject, { message_id, event_id: 'other' })
      expect(other, message_id).toMatchObject({ code: 'message_id_conflict' })
    }
  })
})

/** A writing connection without a server, on a store with a journey and two customers. */
async function writeDirectly(ring: MemtableRing) {
  const store = await openStore()
  const subject = await newSubject(store)
  const other_id = idOf(await initialize(store, subject, 'user-2'))
  await store.close()
  const writing = new WritingConnection(store.path, ring)
  onTestFinished(() => writing.close())
  /** Commits events of a customer as one group. */
  const commit = (events: NewEvent[]) => {
    const { workspace_id } = subject
    const unit = { kind: 'events', workspace_id, key_id: '', isDiscreet: false, events } as const
    const results = writing.commitGroup([unit], 0)
    expect(results).toMatchObject([{ outcome: events.map(() => ({ status: 'created' })) }])
  }
  return { path: store.path, subject, other: { ...subject, customer_id: other_id }, writing, commit }
}

describe('the ring of the memtable', () => {
  it('reports no slot as intact that a group has written which was rolled back', () => {
    const ring = new MemtableRing()
    ring.reserve(ROUND + 1_000)
    ring.reserve(ROUND + 1)
    expect(ring.isIntactBehind(999)).toBe(false)
    expect(ring.isIntactBehind(1_000)).toBe(true)
  })

  it('reports no slot as intact that may belong to a later event', () => {
    const ring = new MemtableRing()
    const event = { workspace_ref: 1, journey_ref: 1, customer_ref: 1, name: 1, message_key: null }
    const write = (seq: number) => {
      ring.reserve(seq)
      ring.set({ ...event, seq, at_ms: seq })
    }
    for (let seq = 1; seq <= ROUND; seq += 1) write(seq)
    expect(ring.isIntactBehind(0)).toBe(true)
    expect(ring.at_ms(1)).toBe(1)
    for (let behind = 0; behind < 3; behind += 1) {
      // Before anything is written, because a reader may see half of it.
      ring.reserve(ROUND + behind + 1)
      expect(ring.isIntactBehind(behind)).toBe(false)
      write(ROUND + behind + 1)
      expect(ring.isIntactBehind(behind + 1)).toBe(true)
      expect(ring.at_ms(behind + 2)).toBe(behind + 2)
    }
  })

  it('reserves every slot before it is written, from the start on', async () => {
    const unannounced: number[] = []
    class WatchedRing extends MemtableRing {
      #reserved = 0

      override reserve(seq: number): void {
        this.#reserved = seq
        super.reserve(seq)
      }

      override set(event: MemtableEvent): void {
        if (event.seq > this.#reserved) unannounced.push(event.seq)
        super.set(event)
      }
    }
    const ring = new WatchedRing()
    const { path, subject, writing, commit } = await writeDirectly(ring)
    // At the start far more is reserved than there can be.
    ring.reserve(0)
    for (const size of [1, 3, 200]) commit(Array.from({ length: size }, () => newEvent(subject)))
    writing.close()
    const opened = new WritingConnection(path, new WatchedRing())
    onTestFinished(() => opened.close())
    expect(opened.unindexedEvents).toBe(204)
    expect(unannounced).toEqual([])
  })
})

/** Requests for a page: a customer's newest events, or its timeline. */
function requests({ workspace_id, customer_id }: Subject): EventsRequest[] {
  return [
    { list: 'newest', workspace_id, filter: { customer_id }, page: { limit: 50 } },
    { list: 'timeline', workspace_id, customer_id, page: { limit: 50 } },
  ]
}

describe('a memtable of which every event was removed', () => {
  it('becomes a run after a restart', async () => {
    const { path, subject, writing, commit } = await writeDirectly(new MemtableRing())
    for (let round = 0; round < 5; round += 1) commit(Array.from({ length: 2048 }, () => newEvent(subject)))
    writing.close()
    const file = connect(path)
    file.exec(`UPDATE event_indexing SET removed_seq = (SELECT max(seq) FROM events); DELETE FROM events`)
    const opened = new WritingConnection(path, new MemtableRing())
    onTestFinished(() => opened.close())
    expect(opened.unindexedEvents).toBe(5 * 2048)
    for (let slice = opened.index(true); slice; slice = opened.index(true)) expect(slice).toEqual({})
    expect(opened.unindexedEvents).toBe(0)
    const reader = new EventReader(openReadable(path), new MemtableRing())
    for (const request of requests(subject)) expect(reader.read(request).rows).toEqual([])
  })
})

/** Makes the writer continue as soon as a reader has begun. */
class SlowRing extends MemtableRing {
  goOn: (() => void) | undefined

  override lastMatch(...search: Parameters<MemtableRing['lastMatch']>): number {
    const { goOn } = this
    this.goOn = undefined
    goOn?.()
    return super.lastMatch(...search)
  }
}

describe('a delayed reader', () => {
  it('starts again if the ring is overwritten meanwhile, and misses nothing', async () => {
    let overtaken = 0
    class CountingRing extends SlowRing {
      override isIntactBehind(seq: number): boolean {
        const isIntact = super.isIntactBehind(seq)
        if (!isIntact) overtaken += 1
        return isIntact
      }
    }
    const writerRing = new MemtableRing()
    const { path, subject, other, writing, commit } = await writeDirectly(writerRing)
    const own = ['a', 'b', 'c']
    commit(own.map((event_id) => newEvent(subject, { event_id })))
    const connection = openReadable(path)
    onTestFinished(() => void connection.close())
    const ring = new CountingRing(writerRing.buffer)
    const reader = new EventReader(connection, ring)
    const round = () => {
      const group = Array.from({ length: 2048 }, () => newEvent(other))
      for (let written = 0; written <= ROUND; written += group.length) {
        commit(group)
        while (writing.index(false)) expect(writing.unindexedEvents).toBeLessThan(ROUND / 2)
      }
    }
    for (const [count, request] of requests(subject).entries()) {
      ring.goOn = round
      const { rows, next } = reader.read(request)
      expect(overtaken, request.list).toBe(count + 1)
      expect(rows.map((row) => JSON.parse(row).event_id)).toEqual(own.toReversed())
      expect(next).toBeNull()
      commit([newEvent(subject, { event_id: `${count}` })])
      own.push(`${count}`)
    }
  })

  it('starts again even if later events fill its page', async () => {
    const writerRing = new MemtableRing()
    const { path, subject, other, writing, commit } = await writeDirectly(writerRing)
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    commit(names.map((event_id) => newEvent(subject, { event_id })))
    const connection = openReadable(path)
    onTestFinished(() => void connection.close())
    const ring = new SlowRing(writerRing.buffer)
    const reader = new EventReader(connection, ring)
    let written = 0
    ring.goOn = () => {
      // Every other slot is the customer's again.
      const group = Array.from({ length: 2048 }, (_, index) =>
        newEvent(index % 2 === 0 ? other : subject, { event_id: `${index}` }),
      )
      for (; written <= ROUND; written += group.length) {
        commit(group)
        while (writing.index(false)) expect(writing.unindexedEvents).toBeLessThan(ROUND / 2)
      }
    }
    const { workspace_id, customer_id } = subject
    const filter = { customer_id }
    const { rows } = reader.read({ list: 'newest', workspace_id, filter, page: { limit: 2 } })
    expect(written).toBeGreaterThan(ROUND)
    expect(rows.map((row) => JSON.parse(row).event_id)).toEqual(['2047', '2045'])
  })

  it('gives up after several restarts', async () => {
    const ring = new MemtableRing()
    const { path, subject, commit } = await writeDirectly(ring)
    commit([newEvent(subject)])
    const connection = openReadable(path)
    onTestFinished(() => void connection.close())
    const reader = new EventReader(connection, ring)
    ring.reserve(ROUND)
    for (const request of requests(subject)) expect(reader.read(request).rows).toHaveLength(1)
    ring.reserve(ROUND + 1)
    for (const request of requests(subject))
      expect(() => reader.read(request)).toThrow('overwritten during a read')
    expect(connection.inTransaction).toBe(false)
  })
})
