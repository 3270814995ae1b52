import { eventIdsOf } from '../../../domain/journey-standing.ts'
import type { RemovedSlice } from '../../removals/removals.ts'
import type { Connection } from '../connection.ts'
import type { Memtable, Segment } from '../index/memtable.ts'
import { postingKeys } from '../index/posting-keys.ts'
import { postingsFrom } from '../index/postings.ts'
import type { RunStore } from '../index/run-store.ts'
import { ZoneMapReader } from '../index/zone-map.ts'
import { type Kept, wholeId } from '../kept-ids.ts'
import { prepareReferences } from '../writer/references.ts'

/** Identifies the removal that a slice belongs to. */
export type RemovalName = { workspace_id: string; removal_id: string }

type RemovalRow = RemovalName & {
  kind: keyof typeof BY_KIND
  subject_id: string
  before_ms: number | null
  place: string
}

/** Progress of a removal. */
type RemovalProgress = {
  /** The number of a customer whose rows are already deleted, or of a journey that is already hidden. */
  ref?: number
  /** All events with lower numbers are removed. */
  from: number
  /** What was received earlier has been removed by an earlier run of retention. */
  since_ms?: number
}

/** How events are found by the number of a subject: in the index, in the memtable, and in their row. */
const BY_KIND = {
  customer: {
    keyOf: postingKeys.customer,
    of: ({ customers }: Segment) => customers,
    column: 'customer_ref',
  },
  journey: { keyOf: postingKeys.journey, of: ({ journeys }: Segment) => journeys, column: 'journey_ref' },
  workspace: {
    keyOf: postingKeys.workspace,
    of: ({ workspaces }: Segment) => workspaces,
    column: 'workspace_ref',
  },
}

/** Time limit of a slice. Its commit is not included and takes about as long. */
const SLICE_MS = 8

/** How many events are examined between two checks of the time. */
const EVENTS_AT_ONCE = 16

/**
 * Followers of the store can read about this many enrolments whose events were removed; a follower that is further
 * behind starts from scratch.
 */
const NOTED_ENROLMENTS = 1_000_000

/** How far the clock may have stepped back while events were stored. */
const CLOCK_MS = 3_600_000

/** How many enrolments are removed at a time. */
const ENROLMENTS_AT_ONCE = 500

/**
 * Removes events in slices, each inside a transaction of the caller. Index entries of removed events stay until their
 * runs are compacted or dropped: readers of an index skip entries whose event no longer exists.
 */
export class EventRemover {
  readonly #store: RunStore
  readonly #memtable: Memtable
  readonly #zoneMap: ZoneMapReader
  readonly #statements: ReturnType<typeof prepare>
  /** Within the slice: names of the events of steps, by journey. */
  readonly #steps = new Map<number, Set<string>>()
  /** Within the slice: customers already reported to followers, by journey. */
  readonly #noted = new Map<number, Set<number>>()

  constructor(connection: Connection, { store, memtable }: { store: RunStore; memtable: Memtable }) {
    this.#store = store
    this.#memtable = memtable
    this.#zoneMap = new ZoneMapReader(connection)
    this.#statements = prepare(connection)
  }

  /** Removes the next events, or the next enrolments of a journey without events, and saves the progress. */
  slice(name: RemovalName): RemovedSlice {
    const removal = this.#statements.removal.get(name.workspace_id, name.removal_id)
    if (!removal) return { rows: 0, isDone: true }
    const place: RemovalProgress = { from: 0, ...(removal.place && JSON.parse(removal.place)) }
    const ref = place.ref ?? this.#refOf(removal)
    this.#steps.clear()
    this.#noted.clear()
    if (ref === undefined) return { rows: 0, isDone: true }
    const slice = this.#remove(removal, ref, place)
    this.#statements.note.run(JSON.stringify(place), slice.rows, name.workspace_id, name.removal_id)
    if (!slice.isDone || removal.kind !== 'journey' || removal.before_ms !== null) return slice
    // Done only after the enrolments, which refer to the journey.
    return slice.rows > 0 ? { ...slice, isDone: false } : this.#removeEnrolments(ref)
  }

  /** Reports each enrolment to followers. */
  #removeEnrolments(journey_ref: number): RemovedSlice {
    const { enrolments, noteEnrolment, deleteEnrolment } = this.#statements
    const customers = enrolments.all(journey_ref, ENROLMENTS_AT_ONCE)
    for (const customer_ref of customers) {
      noteEnrolment.run(journey_ref, customer_ref)
      deleteEnrolment.run(journey_ref, customer_ref)
    }
    return { rows: customers.length, isDone: customers.length === 0 }
  }

  /** @param place is advanced */
  #remove(removal: RemovalRow, ref: number, place: RemovalProgress): RemovedSlice {
    const { kind, before_ms } = removal
    const until_ms = performance.now() + SLICE_MS
    let looked = 0
    let rows = 0
    let removed: { seq: number; id: Uint8Array } | undefined
    let isDone = true
    for (const seq of this.#candidates(removal, ref, place)) {
      if (looked % EVENTS_AT_ONCE === 0 && looked > 0 && performance.now() >= until_ms) {
        isDone = false
        break
      }
      looked += 1
      place.from = seq + 1
      const event = this.#statements.delete[kind].get({ seq, ref, before_ms })
      if (!event) continue
      rows += 1
      removed = { seq, id: wholeId(event) }
      if (before_ms !== null) this.#noteEnrolment(event)
    }
    if (removed) this.#statements.removed.run(removed)
    if (this.#noted.size > 0) this.#statements.forgetNoted.run(NOTED_ENROLMENTS)
    return { rows, isDone }
  }

  /** Reports enrolments whose standing may change without the event: the event of a step, or one before all others. */
  #noteEnrolment({ journey_ref, customer_ref, event_id, at_ms }: RemovedEvent) {
    const noted = this.#noted.get(journey_ref)
    if (noted?.has(customer_ref)) return
    let steps = this.#steps.get(journey_ref)
    if (!steps) {
      steps = new Set(eventIdsOf(this.#statements.steps.get(journey_ref) ?? '[]'))
      this.#steps.set(journey_ref, steps)
    }
    const enrolled_ms = this.#statements.enrolled.get(journey_ref, customer_ref)
    if (enrolled_ms === undefined || (!steps.has(event_id) && at_ms >= enrolled_ms)) return
    this.#statements.noteEnrolment.run(journey_ref, customer_ref)
    if (noted) noted.add(customer_ref)
    else this.#noted.set(journey_ref, new Set([customer_ref]))
  }

  /** Numbers of events that may have to be removed, from the index. */
  *#candidates(
    { kind, before_ms }: RemovalRow,
    ref: number,
    { from, since_ms }: RemovalProgress,
  ): Generator<number> {
    const { keyOf, of } = BY_KIND[kind]
    const last = this.#memtable.nextSeq - 1
    const received = {
      ...(before_ms !== null && { to_ms: before_ms }),
      ...(since_ms !== undefined && { from_ms: since_ms - CLOCK_MS }),
    }
    for (const interval of [...this.#zoneMap.intervals(received, last)].reverse()) {
      const first = Math.max(from, interval.from)
      for (const run of this.#store.all().reverse()) {
        if (run.last_seq < first) continue
        if (run.first_seq > interval.to) break
        for (const seq of postingsFrom(run, this.#store.readPage, { key: keyOf(ref), from: first })) {
          if (seq > interval.to) break
          yield seq
        }
      }
      for (const segment of [this.#memtable.indexing, this.#memtable.arriving]) {
        if (!segment) continue
        const refs = of(segment)
        const end = Math.min(segment.firstSeq + segment.length - 1, interval.to)
        for (let seq = Math.max(first, segment.firstSeq); seq <= end; seq += 1) {
          if (refs[seq - segment.firstSeq] === ref) yield seq
        }
      }
    }
  }

  /** Undefined if nothing of its subject is left. */
  #refOf({ kind, workspace_id, subject_id }: RemovalRow): number | undefined {
    if (kind === 'workspace') return this.#statements.workspace.get(workspace_id)
    return this.#statements[kind].get(workspace_id, subject_id)
  }
}

type RemovedEvent = Kept & {
  journey_ref: number
  customer_ref: number
  event_id: string
  at_ms: number
}

function prepareDeletion(connection: Connection, kind: keyof typeof BY_KIND) {
  return connection.prepare<[{ seq: number; ref: number; before_ms: number | null }], RemovedEvent>(
    `DELETE FROM events
    WHERE seq = @seq AND ${BY_KIND[kind].column} = @ref AND (@before_ms IS NULL OR received_ms < @before_ms)
    RETURNING id, received_ms, journey_ref, customer_ref, event_id, coalesce(occurred_ms, received_ms) AS at_ms`,
  )
}

function prepare(connection: Connection) {
  return {
    ...prepareReferences(connection),
    delete: {
      customer: prepareDeletion(connection, 'customer'),
      journey: prepareDeletion(connection, 'journey'),
      workspace: prepareDeletion(connection, 'workspace'),
    },
    removal: connection.prepare<[string, string], RemovalRow>(
      'SELECT * FROM removals WHERE workspace_id = ? AND removal_id = ?',
    ),
    note: connection.prepare<[string, number, string, string]>(
      'UPDATE removals SET place = ?, events = events + ? WHERE workspace_id = ? AND removal_id = ?',
    ),
    steps: connection.prepare<[number], string>('SELECT steps FROM journeys WHERE journey_ref = ?').pluck(),
    enrolled: connection
      .prepare<[number, number], number>(
        'SELECT enrolled_ms FROM enrolments WHERE journey_ref = ? AND customer_ref = ?',
      )
      .pluck(),
    forgetNoted: connection.prepare<[number]>(
      'DELETE FROM enrolment_removals WHERE number <= (SELECT max(number) FROM enrolment_removals) - ?',
    ),
    enrolments: connection
      .prepare<[number, number], number>(
        'SELECT customer_ref FROM enrolments WHERE journey_ref = ? ORDER BY customer_ref LIMIT ?',
      )
      .pluck(),
    noteEnrolment: connection.prepare<[number, number]>(
      'INSERT INTO enrolment_removals (journey_ref, customer_ref) VALUES (?, ?)',
    ),
    deleteEnrolment: connection.prepare<[number, number]>(
      'DELETE FROM enrolments WHERE journey_ref = ? AND customer_ref = ?',
    ),
    removed: connection.prepare<[{ seq: number; id: Uint8Array }]>(
      'UPDATE event_indexing SET removed_seq = @seq, removed_id = @id WHERE removed_seq < @seq',
    ),
  }
}
