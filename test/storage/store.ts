import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { Client, type CustomTypesConfig, types } from 'pg'
import { onTestFinished } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { cursorPosition } from '../../server/domain/cursors.ts'
import { instant_ms } from '../../server/domain/instants.ts'
import type { JsonBytes } from '../../server/domain/json-bytes.ts'
import type { PageRows } from '../../server/domain/paging.ts'
import type { ActivityCounts } from '../../server/storage/activity/activity.ts'
import type { Reading } from '../../server/storage/database.ts'
import type { EventOutcome, InitializeOutcome, NewEvent } from '../../server/storage/events/event-store.ts'
import { openStorage } from '../../server/storage/open.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import type { Storage, StorageOptions } from '../../server/storage/storage.ts'
import { newStore } from '../cairn.ts'
import { engine } from '../engine.ts'

/** An open store without a server. */
export type Store = Storage & { databaseUrl: string }

export type StoreOptions = Partial<Omit<StorageOptions, 'url'>> & { databaseUrl?: string }

export async function openStore(options: StoreOptions = {}): Promise<Store> {
  const { databaseUrl = await newStore(), ...others } = options
  const storage = await openStorage({
    url: databaseUrl,
    now: Date.now,
    onKeyChange: () => {},
    onOutsideChange: () => {},
    onDeath: () => {},
    ...others,
  })
  return { ...storage, databaseUrl }
}

/** The same as `openStore`, for one test: it is closed when the test ends. */
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

/** A list that nobody aborts. */
export function readingIn(workspaceId: string, caller = 'key_of_a_test'): Reading {
  return { workspaceId, caller, signal: new AbortController().signal }
}

/** Returns a page of events as rows, with the position after it. */
export async function eventPage(read: Promise<JsonBytes<EventPage>>): Promise<PageRows<Event>> {
  const { data, next_cursor }: EventPage = JSON.parse(new TextDecoder().decode((await read).bytes))
  return { rows: data, next: next_cursor === null ? null : cursorPosition(next_cursor, 'evt') }
}

/** What was counted, without empty periods. */
export type Activity = {
  total: ActivityCounts
  periods: (ActivityCounts & { start_ms: number })[]
  /** Of journeys, names or keys; null is the group of everything that belongs to none. */
  groups: (ActivityCounts & { group: string | null; last_ms: number })[]
  groups_omitted: number
  kept_from_ms: number
}

export async function countedActivity(read: Promise<JsonBytes<ActivityBody>>): Promise<Activity> {
  const { total, periods, groups, groups_omitted, kept_from }: ActivityBody = JSON.parse(
    new TextDecoder().decode((await read).bytes),
  )
  return {
    total,
    periods: periods
      .filter(({ created, duplicate, rejected }) => created + duplicate + rejected > 0)
      .map(({ starts_at, ...counts }) => ({ start_ms: instant_ms(starts_at), ...counts })),
    groups: groups.map(({ journey_id, event_id, key_id, last_at, ...counts }) => {
      return { group: journey_id ?? event_id ?? key_id, ...counts, last_ms: instant_ms(last_at) }
    }),
    groups_omitted,
    kept_from_ms: instant_ms(kept_from),
  }
}

type ActivityBody = components['schemas']['Activity']
type EventPage = components['schemas']['EventPage']
type Event = components['schemas']['Event']

/** Returns an event of the customer that is not stored yet. */
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

/** Returns the identifier of what was stored. @throws {Error} if it was refused */
export function idOf(outcome: EventOutcome | InitializeOutcome): string {
  if ('id' in outcome) return outcome.id
  if ('customer_id' in outcome) return outcome.customer_id
  throw new Error(`refused: ${outcome.code}`)
}

/** Another process's connection to a store. */
export type Connection = {
  /** Runs SQL that every engine understands; several statements if nothing is read. @returns the rows of a query */
  run(statements: string): Promise<Row[]>
}

type Row = Record<string, unknown>

/** Opens a connection that is closed when the test ends. */
export async function connectTo(databaseUrl: string): Promise<Connection> {
  if (engine === 'postgres') {
    const client = new Client({ connectionString: databaseUrl, types: wholeNumbers })
    await client.connect()
    onTestFinished(() => client.end())
    // One after the other, because concurrent callers share the connection.
    let before: Promise<unknown> = Promise.resolve()
    return {
      async run(statements) {
        const result = before.then(async () => await client.query(statements))
        before = result.catch(() => {})
        return (await result).rows
      },
    }
  }
  const file = new Database(sqlitePath(databaseUrl), { fileMustExist: true })
  onTestFinished(() => {
    file.close()
  })
  return {
    async run(statements) {
      const single = /^[^;]*;?\s*$/.test(statements) ? file.prepare<[], Row>(statements) : undefined
      if (single?.reader) return single.all()
      if (single) single.run()
      else file.exec(statements)
      return []
    },
  }
}

/** Blocks all other writers, like a process that writes for a long time. @returns a function that ends it */
export async function holdWrites({ run }: Connection): Promise<() => Promise<void>> {
  await run(
    engine === 'sqlite'
      ? 'BEGIN IMMEDIATE'
      : `BEGIN;
        DO $$ BEGIN EXECUTE (SELECT 'LOCK TABLE '
          -- In the order of those that follow what arrives, whom it would wait for in a circle otherwise.
          || string_agg(quote_ident(tablename), ', ' ORDER BY tablename <> 'event_following', tablename)
          || ' IN EXCLUSIVE MODE' FROM pg_tables WHERE schemaname = 'public'); END $$`,
  )
  return async () => void (await run('ROLLBACK'))
}

/** Returns everything in a store as a thief would find it: the bytes of files, or every row of a database. */
export async function storedText(databaseUrl: string): Promise<string> {
  if (engine === 'sqlite') {
    const folder = dirname(sqlitePath(databaseUrl))
    return readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join('\n')
  }
  const { run } = await connectTo(databaseUrl)
  const tables = await run(`SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`)
  const texts: string[] = []
  for (const { name } of tables) {
    for (const { row } of await run(`SELECT ${name}::text AS row FROM ${name}`)) texts.push(String(row))
  }
  return texts.join('\n')
}

/** Eight bytes as a number, as SQLite returns them. */
const wholeNumbers: CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === types.builtins.INT8 ? Number : types.getTypeParser(type, format),
}

/** Returns the names of all events of a store as other processes see them, in the order of their identifiers. */
export async function storedEvents({ run }: Connection): Promise<unknown[]> {
  const order = engine === 'sqlite' ? 'seq' : 'id'
  return (await run(`SELECT event_id FROM events ORDER BY ${order}`)).map(({ event_id }) => event_id)
}
