import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { cursorPosition } from '../../server/domain/cursors.ts'
import type { JsonBytes } from '../../server/domain/json-bytes.ts'
import type { PageRows } from '../../server/domain/paging.ts'
import type { EventOutcome, InitializeOutcome, NewEvent } from '../../server/storage/event-store.ts'
import { openStorage } from '../../server/storage/open.ts'
import type { Reading, Storage, StorageOptions } from '../../server/storage/storage.ts'
import { newStore } from '../cairn.ts'

/** An open store, without a server around it. */
export type Store = Storage & { path: string; databaseUrl: string }

export type StoreOptions = Partial<Omit<StorageOptions, 'url'>> & { path?: string }

export async function openStore(options: StoreOptions = {}): Promise<Store> {
  const { path = await newStore(), ...others } = options
  const databaseUrl = `sqlite:${path}`
  const storage = await openStorage({
    url: databaseUrl,
    now: Date.now,
    onKeyChange: () => {},
    onOutsideChange: () => {},
    onDeath: () => {},
    ...others,
  })
  return { ...storage, path, databaseUrl }
}

/** The same as `openStore`, for one test: it is closed when the test has ended. */
export async function openStoreForTest(options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(options)
  onTestFinished(store.close)
  return store
}

/** A workspace with a journey and a customer in it. */
export type Subject = { workspace_id: string; journey_id: string; customer_id: string }

export async function newSubject(store: Store): Promise<Subject> {
  const names = { workspace: randomUUID(), journey: 'Onboarding' }
  const { workspace_id, journey_id } = await createWorkspace(store.databaseUrl, names)
  const customer_id = idOf(await initialize(store, { workspace_id, journey_id }, 'user-1'))
  return { workspace_id, journey_id, customer_id }
}

export async function initialize(
  { events }: Store,
  { workspace_id, journey_id }: Pick<Subject, 'workspace_id' | 'journey_id'>,
  client_customer_id: string,
): Promise<InitializeOutcome> {
  const names = { client_customer_id, customer_type: 'contact', customer_name: 'Ada Lovelace' } as const
  return await events.initializeCustomer(workspace_id, { ...names, journey_id })
}

/** A list that is wanted to its end. */
export function readingIn(workspaceId: string, caller = 'key_of_a_test'): Reading {
  return { workspaceId, caller, signal: new AbortController().signal }
}

/** An event of the customer that is not stored yet. */
/** A page of events as rows, with the position behind it. */
export async function eventPage(read: Promise<JsonBytes<EventPage>>): Promise<PageRows<Event>> {
  const { data, next_cursor }: EventPage = JSON.parse(new TextDecoder().decode((await read).bytes))
  return { rows: data, next: next_cursor === null ? null : cursorPosition(next_cursor, 'evt') }
}

type EventPage = components['schemas']['EventPage']
type Event = components['schemas']['Event']

export function newEvent({ journey_id, customer_id }: Subject, event: Partial<NewEvent> = {}): NewEvent {
  const absent = { message_id: null, occurred_ms: null, custom_variables: null }
  return { journey_id, customer_id, event_id: 'signed_up', ...absent, ...event }
}

/** Stores one event of the customer. */
export async function insert(
  { events }: Store,
  subject: Subject,
  event: Partial<NewEvent> = {},
): Promise<EventOutcome> {
  const [outcome] = await events.insertEvents(subject.workspace_id, [newEvent(subject, event)])
  if (!outcome) throw new Error('no outcome')
  return outcome
}

/** The identifier of what was stored. @throws {Error} where it was refused */
export function idOf(outcome: EventOutcome | InitializeOutcome): string {
  if ('id' in outcome) return outcome.id
  if ('customer_id' in outcome) return outcome.customer_id
  throw new Error(`refused: ${outcome.code}`)
}

/** Another program's connection to the file. It is closed when the test has ended. */
export function connect(path: string, options: Database.Options = {}): Database.Database {
  const connection = new Database(path, { fileMustExist: true, ...options })
  onTestFinished(() => {
    connection.close()
  })
  return connection
}

/** Identifiers of the events that the file holds, as other programs see it now, in the order of storing. */
export function storedEvents(connection: Database.Database): string[] {
  const rows = connection.prepare<[], { event_id: string }>('SELECT event_id FROM events ORDER BY seq').all()
  return rows.map(({ event_id }) => event_id)
}

/**
 * How many transactions the write-ahead log holds. Each frame has a header of 24 bytes, in which the third number is
 * not 0 for the last frame of a transaction (sqlite.org/fileformat2.html, "The WAL File Format").
 */
export function commitsInLog(path: string): number {
  const log = readFileSync(`${path}-wal`)
  const frame_bytes = 24 + log.readUInt32BE(8)
  const salt = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frame_bytes <= log.length; at += frame_bytes) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break
    if (log.readUInt32BE(at + 4) !== 0) commits += 1
  }
  return commits
}
