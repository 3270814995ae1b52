import { type Stats, statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { areSameSteps, type Key } from '../../../domain/journey-standing.ts'
import type { FileIdentity } from '../../same-file.ts'
import { follow, forgetJourneys, yieldsBeside } from '../../standings/follower.ts'
import { adoptSteps, rebuildSome } from '../../standings/rebuild.ts'
import { type AnswerSource, StandingsAnswers } from '../../standings/standings-answers.ts'
import type { StandingsQuery } from '../../standings/standings-query.ts'
import { Unavailable } from '../../unavailable.ts'
import {
  type Connection,
  endRead,
  hasItsFiles,
  measureDisk,
  openReadable,
  openServed,
} from '../connection.ts'
import { createEmpty, openWithLayout } from '../derived-file.ts'
import type { MemtableRing } from '../index/memtable.ts'
import { CustomerHistory } from './customer-history.ts'
import { FollowedStore } from './followed-store.ts'
import { Identifiers } from './identifiers.ts'
import { keyOf, numberOf } from './keys.ts'
import { STANDINGS_LAYOUT, StandingsReader, StandingsWriter, standingsPath } from './standings-file.ts'

const MIB = 1024 * 1024

/**
 * With less free disk space than this, deriving stops: the rest is left for the store itself. The floor is higher than
 * the one below which the store refuses writes; on a small disk it is a share of the disk.
 */
const FLOOR_BYTES = 128 * MIB
const FLOOR_PART = 0.1

/** How long pages are rebuilt one after another before other work runs. */
const REBUILD_MS = 8

/** How many journeys are checked for edited steps whenever the store has changed. */
const JOURNEYS_LOOKED_AT = 50

type Open = {
  store: Connection
  file: Connection
  /** The opened file of standings. */
  stats: Stats
  followed: FollowedStore
  identifiers: Identifiers
  answers: StandingsAnswers
  history: CustomerHistory
  writer: StandingsWriter
  /** For reports: sees committed standings only. Their events are read beside those that the follower reads. */
  reading: { connection: Connection; store: Connection; reader: StandingsReader }
}

/** Result of one step. */
export type Followed = { events: number; isAll: boolean }

/** There is too little disk space to derive anything. */
export class NoRoom extends Error {}

/** Follows a store into its file of standings, step by step. A step that fails is rolled back and can be retried. */
export class StandingsFollower {
  readonly #path: string
  readonly #served: FileIdentity
  readonly #ring: MemtableRing
  readonly #now: () => number
  #open: Open | undefined
  /** The store's version when everything in it was processed. */
  #version: unknown
  #lookedAt = 0
  /** How many passes over all journeys remain: the first may have begun before the last change. */
  #roundsLeft = 0
  /** The time up to which everything is in the open file; null: what the file says. */
  #asOf_ms: number | null = null

  /**
   * @param path of a store that its writer has opened
   * @param now the clock of the callers who request reports
   */
  constructor(path: string, ring: MemtableRing, now: () => number) {
    this.#path = path
    this.#served = statSync(path)
    this.#ring = ring
    this.#now = now
  }

  /** @throws whatever SQLite throws */
  open(): void {
    this.#opened()
  }

  /** Processes the next slice of what was stored. @throws {NoRoom} @throws whatever SQLite throws */
  async follow(): Promise<Followed> {
    // What has its name now is followed instead, and created if nothing has.
    if (this.#open && !hasItsFiles(standingsPath(this.#path), this.#open.stats)) this.close()
    const open = this.#opened()
    const { followed, history, writer } = open
    const now_ms = this.#now()
    const version = followed.version()
    const isNew = version !== this.#version
    if (isNew) this.#roundsLeft = 2
    const from = { ...writer.followed(), ...(this.#asOf_ms !== null && { asOf_ms: this.#asOf_ms }) }
    if (isNew && !followed.tellsAllBehind(from)) {
      // After reopening, the position is unknown to the store, and everything is followed from scratch.
      this.close()
      return { events: 0, isAll: false }
    }
    const slice = isNew ? followed.slice(from, now_ms) : undefined
    const changes = slice?.changes ?? []
    const edited = this.#roundsLeft > 0 ? this.#someEdited(open) : []
    // Save the position even if nothing changes: otherwise the next slice would start at it again and never advance.
    if (changes.length > 0 || edited.length > 0 || (slice && slice.events > 0)) {
      this.#assertRoom()
      await this.#transaction(open, async () => {
        await this.#forgetGone(open, slice?.gone ?? [])
        for (const journey of edited) await adoptSteps(writer, journey, followed.eventIds(numberOf(journey)))
        await follow(writer, history, changes, {
          onStanding: (journey, customer, standing) =>
            followed.known.note(numberOf(journey), numberOf(customer), standing),
          yieldLoop: yieldsBeside(() => history.rest()),
        })
        if (slice) writer.saveFollowed(slice.followed)
      })
    }
    this.#asOf_ms = slice ? slice.followed.asOf_ms : now_ms
    if (slice?.isAll) this.#version = version
    return { events: slice?.events ?? 0, isAll: slice?.isAll ?? true }
  }

  /** Rebuilds standings for edited steps, or deletes dropped spaces. @returns whether there may be more to do */
  async rebuild(): Promise<boolean> {
    const open = this.#opened()
    const { writer, history } = open
    if (!(await writer.isRebuildDue())) return false
    this.#assertRoom()
    return await this.#transaction(open, async () => await rebuildSome(writer, history, REBUILD_MS))
  }

  /**
   * Answers a query of standings from one snapshot.
   * @throws the reason of the signal, and whatever SQLite throws
   */
  async answer(query: StandingsQuery, signal: AbortSignal): Promise<unknown> {
    const open = this.#opened()
    try {
      return await this.#answer(open, query, signal)
    } catch (error) {
      // Closed after a failure, while other work had its turn.
      if (this.#open !== open) throw new Unavailable('storage_unavailable', error)
      throw error
    }
  }

  async #answer(open: Open, query: StandingsQuery, signal: AbortSignal): Promise<unknown> {
    const { followed, identifiers, reading, answers } = open
    const names = identifiers.of(query.workspaceId)
    const asked = query.kind === 'customerJourneys' ? undefined : names.keyOf('jrn', query.journeyId)
    if (asked !== undefined) await this.#lookAt(open, asked)
    reading.reader.asOf_ms = this.#asOf_ms ?? reading.reader.followed().asOf_ms
    const configuredSteps = async (journeys: readonly Key[]) =>
      new Map(journeys.map((journey) => [journey, followed.eventIds(numberOf(journey))]))
    const journeysOf: AnswerSource['journeysOf'] = async (...page) => followed.journeysOf(...page)
    reading.connection.exec('BEGIN')
    try {
      const source = { reader: reading.reader, configuredSteps, journeysOf, ...names }
      return await answers.answer(source, query, signal)
    } finally {
      endRead(reading.connection)
    }
  }

  /**
   * Closes everything after a failure.
   * @param failure.isDamaged deletes the file, so that everything is followed from scratch
   */
  recover({ isDamaged }: { isDamaged: boolean }): void {
    this.close()
    if (isDamaged) createEmpty(standingsPath(this.#path), STANDINGS_LAYOUT).close()
  }

  close(): void {
    const open = this.#open
    this.#open = undefined
    this.#version = undefined
    for (const connection of [open?.reading.connection, open?.reading.store, open?.file, open?.store]) {
      try {
        connection?.close()
      } catch {
        // Unusable; another is opened.
      }
    }
  }

  async #forgetGone(open: Open, journeys: readonly Key[]) {
    if (journeys.length === 0) return
    await forgetJourneys(open.writer, journeys)
    // Another journey may get the number of a removed one, and with it the cached answers.
    open.answers = new StandingsAnswers()
  }

  async #transaction<Result>(
    { file, history, followed }: Open,
    work: () => Promise<Result>,
  ): Promise<Result> {
    file.exec('BEGIN IMMEDIATE')
    try {
      const result = await work()
      file.exec('COMMIT')
      return result
    } catch (error) {
      followed.known.forget()
      throw error
    } finally {
      history.end()
      if (file.inTransaction) file.exec('ROLLBACK')
    }
  }

  /** Checks whether a journey's steps have been edited, before it is reported. */
  async #lookAt(open: Open, journey: Key) {
    const event_ids = open.followed.eventIds(numberOf(journey))
    const state = await open.reading.reader.journey(journey)
    if (!state || areSameSteps(state.building?.event_ids ?? state.event_ids, event_ids)) return
    this.#roundsLeft = 2
    this.#lookedAt = numberOf(journey) - 1
  }

  /** Checks some journeys, in rotation, and returns those whose steps differ from the ones of their standings. */
  #someEdited({ writer, followed }: Open): Key[] {
    const journeys = writer.journeysBehind(this.#lookedAt, JOURNEYS_LOOKED_AT)
    const isRoundOver = journeys.length < JOURNEYS_LOOKED_AT
    if (isRoundOver) this.#roundsLeft -= 1
    this.#lookedAt = isRoundOver ? 0 : (journeys.at(-1)?.journey ?? 0)
    const edited = journeys.filter(
      ({ journey, event_ids }) => event_ids !== JSON.stringify(followed.eventIds(journey)),
    )
    return edited.map(({ journey }) => keyOf(journey))
  }

  #assertRoom() {
    const disk = measureDisk(this.#path)
    if (!disk || disk.free_bytes >= Math.min(FLOOR_BYTES, disk.bytes * FLOOR_PART)) return
    // The journeys found to be edited are looked for again.
    this.#roundsLeft = 2
    throw new NoRoom('too little disk space is left')
  }

  #opened(): Open {
    this.#open ??= this.#openAll()
    return this.#open
  }

  #history(store: Connection): CustomerHistory {
    return new CustomerHistory(store, this.#ring, () => setImmediate())
  }

  #openAll(): Open {
    const store = openServed(this.#path, this.#served)
    const opened: Connection[] = [store]
    try {
      const followed = new FollowedStore(store, this.#ring)
      const history = this.#history(store)
      const path = standingsPath(this.#path)
      let file = openWithLayout(path, STANDINGS_LAYOUT)
      let writer = new StandingsWriter(file, followed, history)
      opened.push(file)
      if (!writer.isNew() && !followed.has(writer.followed())) {
        file.close()
        file = createEmpty(path, STANDINGS_LAYOUT)
        writer = new StandingsWriter(file, followed, history)
        opened.push(file)
      }
      if (writer.isNew()) {
        // What another file was as of is not true of this one.
        this.#asOf_ms = null
        writer.saveFollowed(followed.beginning())
      }
      const storeOfReports = openServed(this.#path, this.#served)
      opened.push(storeOfReports)
      const connection = openReadable(path)
      return {
        store,
        file,
        stats: statSync(path),
        followed,
        identifiers: new Identifiers(store),
        // Another file counts its changes from the start, so cached answers of the old one would look current.
        answers: new StandingsAnswers(),
        history,
        writer,
        reading: {
          connection,
          store: storeOfReports,
          reader: new StandingsReader(connection, followed, this.#history(storeOfReports)),
        },
      }
    } catch (error) {
      for (const connection of opened) connection.close()
      throw error
    }
  }
}
