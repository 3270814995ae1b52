import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql, type Transaction } from 'kysely'
import type { DB } from '../../../../generated/tables.ts'
import { cursorPosition, firstPosition } from '../../../domain/cursors.ts'
import { readAddress } from '../../../domain/postgres-urls.ts'
import { InUse } from '../../../in-use.ts'
import { inTransaction } from '../../in-transaction.ts'
import {
  type EnrolmentRow,
  type EventRow,
  isShared,
  type Row,
  type RowKey,
  type Rows,
  readShared,
  type Untold,
  writeShared,
} from '../../transfer/tables.ts'
import type { TransferableStore } from '../../transfer/transferable-store.ts'
import { noteProgress, UNFINISHED_COPY } from '../../transfer/unfinished-copy.ts'
import { type Connection, Servers } from '../connection/connection.ts'
import { Pool, runOn } from '../connection/pool.ts'
import { digitsOf, firstUuidOf, idOf, isUuid, messageUuid, msOf, uuidOf } from '../connection/uuids.ts'
import { PoolDialect } from '../dialect.ts'
import { hasTable, migrateDatabase } from '../migrate-database.ts'
import { makePartitions } from '../partitions.ts'
import { eventOf, type StoredEvent } from '../reader/stored-event.ts'

/** Interval of checks whether a server has stopped. */
const LOOK_MS = 50

/** Statement timeout: counting or sorting all events may take long, and nobody else waits for it. */
const STATEMENT_MS = 3_600_000

/**
 * Opens a database, and creates its tables if there are none.
 * @throws {InUse} with a message for the operator
 */
export async function openTransferableDatabase(url: string): Promise<TransferableStore> {
  const servers = new Servers(readAddress(url))
  await migrateDatabase(servers)
  const pool = new Pool({ servers, most: 3, mostWaiting: 10, statement_ms: STATEMENT_MS })
  try {
    await assertUnserved(pool)
    const [store] = await pool.read<{ message_salt: string }>('SELECT message_salt FROM cairn_store', [])
    return transferable(pool, store?.message_salt ?? '')
  } catch (error) {
    await pool.close()
    throw error
  }
}

/** For this long a server that has just stopped may still be connected. */
const STOPPED_WITHIN_MS = 2_000

async function assertUnserved(pool: Pool) {
  for (const until_ms = performance.now() + STOPPED_WITHIN_MS; await isServed(pool); await sleep(LOOK_MS)) {
    if (performance.now() > until_ms) {
      throw new InUse('A Cairn server is running on the database. Stop all of them first.')
    }
  }
}

async function isServed(pool: Pool): Promise<boolean> {
  const [others] = await pool.read<{ count: number }>(
    `SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = current_setting('application_name')
      AND pid <> pg_backend_pid()`,
    [],
  )
  return (others?.count ?? 0) > 0
}

function transferable(pool: Pool, messageSalt: string): TransferableStore {
  const db = new Kysely<DB>({
    dialect: new PoolDialect({
      read: (statement, parameters) => pool.read(statement, parameters),
      transactions: { pool },
    }),
  })
  const events = new EventCursor(pool)
  const untold = untoldIn(pool)
  const months = new Set<string>()

  /** Partitions for the months of the events, so that retention can drop whole partitions. */
  const makePartitionsOf = async (rows: readonly EventRow[]) => {
    for (const row of rows) {
      const month = new Date(msOf(row.id)).toISOString().slice(0, 7)
      if (months.has(month)) continue
      await makePartitions(pool, msOf(row.id))
      months.add(month)
    }
  }

  return {
    async read(table, place, limit) {
      if (isShared(table)) return await readShared(db, table, place, limit, untold)
      return table === 'events' ? await events.read(place, limit) : await readEnrolments(pool, place, limit)
    },
    async write(table, rows, progress) {
      if (table === 'events') await makePartitionsOf(rows as readonly EventRow[])
      await inTransaction(db, async (db) => {
        if (isShared(table)) await writeShared(db, table, rows)
        else if (table === 'events') await writeEvents(db, rows as readonly EventRow[], messageSalt)
        else await writeEnrolments(db, rows as readonly EnrolmentRow[])
        await noteProgress(db, progress)
      })
    },
    async progress() {
      if (!(await hasTable(pool, UNFINISHED_COPY))) return undefined
      const [row] = await pool.read<{ progress: string }>(`SELECT progress FROM ${UNFINISHED_COPY}`, [])
      return row?.progress
    },
    async count(table) {
      const [row] = await pool.read<{ count: number }>(`SELECT count(*) AS count FROM ${table}`, [])
      return row?.count ?? 0
    },
    async finish() {
      await runOn(pool, 'UPDATE cairn_store SET counted_from_ms = $1', [Date.now()])
      await runOn(pool, `DROP TABLE IF EXISTS ${UNFINISHED_COPY}`)
    },
    async close() {
      events.close()
      await pool.close()
    },
  }
}

/** Late arrivals, and what is in a queue and may become one, have a position after their own instant. */
function untoldIn(pool: Pool): Untold {
  type Statement = [sql: string, ...parameters: (string | number)[]]
  const firstOf = async (told_ms: number, statements: readonly Statement[]) => {
    const found = await Promise.all(
      statements.map(async ([sql, ...parameters]) => {
        const [row] = await pool.read<{ id?: string; ms?: number | null }>(sql, parameters)
        return row?.id ? msOf(digitsOf(row.id)) : row?.ms
      }),
    )
    const instants = found.filter((ms) => ms != null)
    return instants.length === 0 ? { after_ms: told_ms + 1 } : { first_ms: Math.min(...instants) }
  }
  return {
    async events(workspaceId, cursor, from_ms) {
      const { ms, id } = cursor === null ? firstPosition('evt', from_ms) : cursorPosition(cursor, 'evt')
      const workspace = uuidOf(workspaceId)
      return await firstOf(ms, [
        [
          'SELECT id FROM events WHERE workspace_id = $1 AND id >= $2 AND id > $3 ORDER BY id LIMIT 1',
          workspace,
          firstUuidOf(ms),
          uuidOf(id),
        ],
        [
          `SELECT id FROM event_strays WHERE workspace_id = $1 AND (at_ms, id) > ($2, $3::uuid)
          ORDER BY id LIMIT 1`,
          workspace,
          ms,
          uuidOf(id),
        ],
        [
          `SELECT first_event AS id FROM event_arrivals WHERE workspace_id = $1 ORDER BY first_event LIMIT 1`,
          workspace,
        ],
      ])
    },
    async customers(workspaceId, cursor, from_ms) {
      const { ms, id } = cursor === null ? firstPosition('cus', from_ms) : cursorPosition(cursor, 'cus')
      return await firstOf(ms, [
        [
          `SELECT min(created_ms) AS ms FROM customers
          WHERE workspace_id = $1 AND (created_ms, customer_id) > ($2, $3)`,
          workspaceId,
          ms,
          id,
        ],
        [
          `SELECT min(created_ms) AS ms FROM customer_strays JOIN customers USING (workspace_id, customer_id)
          WHERE workspace_id = $1 AND (at_ms, customer_id) > ($2, $3)`,
          workspaceId,
          ms,
          id,
        ],
        [
          `SELECT min(substring(enrolments FROM '"enrolled_ms" ?: ?([0-9]+)')::bigint) AS ms FROM enrolment_arrivals
          WHERE workspace_id = $1`,
          workspaceId,
        ],
      ])
    },
  }
}

const ENROLMENT_KEY = ['workspace_id', 'journey_id', 'customer_id'] as const

async function readEnrolments(pool: Pool, place: RowKey | undefined, limit: number): Promise<Rows> {
  const rows = await pool.read<EnrolmentRow>(
    `SELECT workspace_id, journey_id, customer_id, enrolled_ms FROM enrolments
    WHERE (workspace_id, journey_id, customer_id) > ($1, $2, $3)
    ORDER BY workspace_id, journey_id, customer_id LIMIT $4`,
    [...(place ?? ['', '', '']), limit],
  )
  const last = rows.at(-1)
  return { rows, place: last && ENROLMENT_KEY.map((column) => last[column]) }
}

async function writeEnrolments(db: Transaction<DB>, rows: readonly EnrolmentRow[]) {
  await sql`INSERT INTO enrolments (workspace_id, journey_id, customer_id, enrolled_ms)
    SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS row (workspace_id text, journey_id text, customer_id text, enrolled_ms bigint)`.execute(db)
  // Derived data is not copied. It is computed from arrivals, so everything is enqueued as an arrival.
  await sql`INSERT INTO enrolment_arrivals (workspace_id, arrival, enrolments)
    SELECT workspace_id, gen_random_uuid(), json_agg(json_build_object('journey_id', journey_id, 'customer_id', customer_id,
      'customer_type', customer_type, 'enrolled_ms', enrolled_ms))
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS row (workspace_id text, journey_id text, customer_id text, enrolled_ms bigint)
      JOIN customers USING (workspace_id, customer_id)
    GROUP BY workspace_id`.execute(db)
}

type CopiedEvent = StoredEvent & { workspace_id: string; custom_variables: string | null }

const EVENT_COLUMNS = `id, workspace_id, journey_id, customer_id, at_ms, received_ms, is_dated, message_id, message_text,
  event_id, custom_variables, key_id`

/** Events of all workspaces by identifier, for which there is no index: sorted once and then fetched with a cursor. */
class EventCursor {
  readonly #pool: Pool
  #connection: Connection | undefined
  /** The last one fetched. */
  #at: string | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async read(place: RowKey | undefined, limit: number): Promise<Rows> {
    const at = place && String(place[0])
    if (!this.#connection || at !== this.#at) await this.#open(at)
    const fetched = await this.#connection?.run<CopiedEvent>(`FETCH ${limit} FROM all_events`)
    const rows = (fetched?.rows ?? []).map(rowOf)
    this.#at = rows.at(-1)?.id
    if (this.#at === undefined) this.close()
    return { rows, place: this.#at === undefined ? undefined : [this.#at] }
  }

  async #open(at: string | undefined) {
    this.close()
    const behind = at === undefined ? '' : `WHERE id > '${/^[0-9a-f]{32}$/.exec(at)?.[0]}'`
    this.#connection = await this.#pool.acquire()
    await this.#connection.run(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
      SET LOCAL idle_in_transaction_session_timeout = 0;
      DECLARE all_events NO SCROLL CURSOR FOR SELECT ${EVENT_COLUMNS} FROM events ${behind} ORDER BY id`)
  }

  close() {
    if (!this.#connection) return
    // Still in a transaction, so it cannot be used again.
    this.#connection.close()
    this.#pool.release(this.#connection)
    this.#connection = undefined
  }
}

function rowOf({ workspace_id, custom_variables, ...stored }: CopiedEvent): Row & { id: string } {
  return { ...eventOf(stored), workspace_id: idOf('wsp', digitsOf(workspace_id)), custom_variables }
}

async function writeEvents(db: Transaction<DB>, rows: readonly EventRow[], messageSalt: string) {
  const stored = rows.map(({ message_id, received_ms, occurred_ms, ...row }) => ({
    ...row,
    workspace_id: uuidOf(row.workspace_id),
    journey_id: uuidOf(row.journey_id),
    customer_id: uuidOf(row.customer_id),
    key_id: row.key_id && uuidOf(row.key_id),
    at_ms: occurred_ms ?? received_ms,
    received_ms: received_ms === msOf(row.id) ? null : received_ms,
    is_dated: occurred_ms !== null,
    message: message_id === null ? null : messageUuid(message_id, messageSalt),
    message_id: message_id !== null && isUuid(message_id) ? message_id : null,
    message_text: message_id === null || isUuid(message_id) ? null : message_id,
  }))
  await sql`WITH batch AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(stored)}::json) AS row (
        id uuid, workspace_id uuid, journey_id uuid, customer_id uuid, at_ms bigint, received_ms bigint,
        is_dated boolean, message uuid, message_id uuid, message_text text, event_id text, custom_variables text,
        key_id uuid)
    ), taken AS (
      INSERT INTO event_messages (workspace_id, message, event_id)
      SELECT workspace_id, message, id FROM batch WHERE message IS NOT NULL ORDER BY message
    )
    INSERT INTO events (${sql.raw(EVENT_COLUMNS)}) SELECT ${sql.raw(EVENT_COLUMNS)} FROM batch`.execute(db)
  await sql`INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts)
    SELECT workspace_id, gen_random_uuid(), 0, min(id)::uuid, max(id)::uuid, '[]'
    FROM json_to_recordset(${JSON.stringify(stored.map(({ id, workspace_id }) => ({ id, workspace_id })))}::json)
      AS row (id text COLLATE "C", workspace_id uuid)
    GROUP BY workspace_id`.execute(db)
}
