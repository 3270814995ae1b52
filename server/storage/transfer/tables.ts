import { type Kysely, sql, type Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'

/** The tables that every engine has, with their keys; referenced tables come first. */
export const sharedKeys = {
  people: ['person_id'],
  workspaces: ['workspace_id'],
  journeys: ['workspace_id', 'journey_id'],
  customers: ['workspace_id', 'customer_id'],
  customer_words: ['workspace_id', 'word', 'created_ms', 'customer_id'],
  service_keys: ['key_id'],
  members: ['workspace_id', 'person_id'],
  sessions: ['digest'],
  setup_links: ['digest'],
  invitations: ['workspace_id', 'invitation_id'],
  password_links: ['person_id'],
  audit_log: ['workspace_id', 'entry_id'],
  removals: ['workspace_id', 'removal_id'],
  erasures: ['workspace_id', 'customer_id'],
  event_definitions: ['workspace_id', 'definition_id'],
  event_definition_revisions: ['workspace_id', 'definition_id', 'revision'],
  webhooks: ['workspace_id', 'webhook_id'],
  webhook_windows: ['workspace_id', 'customer_id', 'webhook_id', 'journey_id'],
  webhook_deliveries: ['workspace_id', 'webhook_id', 'delivery_id'],
  views: ['workspace_id', 'view_id'],
  view_links: ['workspace_id', 'link_id'],
  definition_violations: [
    'workspace_id',
    'definition_id',
    'code',
    'day_ms',
    'revision',
    'pointer',
    'key_id',
    'rejected',
  ],
} as const satisfies { [Table in keyof DB]: readonly (keyof DB[Table])[] }

export type SharedTable = keyof typeof sharedKeys

/**
 * The content of a store, in the order of copying. Standings are left out, because they are derived from
 * enrolments and events and rebuilt. So are the counts of events sent: the copy starts with none.
 */
export const TABLES = [...(Object.keys(sharedKeys) as SharedTable[]), 'enrolments', 'events'] as const

export type TableName = (typeof TABLES)[number]

export function isShared(table: TableName): table is SharedTable {
  return table in sharedKeys
}

/** A row in the format that engines exchange. */
export type Row = Readonly<Record<string, string | number | null>>

/** An event in the format that engines exchange. */
export type EventRow = {
  /** The 16 bytes as 32 digits. */
  id: string
  workspace_id: string
  journey_id: string
  customer_id: string
  event_id: string
  occurred_ms: number | null
  received_ms: number
  message_id: string | null
  custom_variables: string | null
  key_id: string | null
}

export type EnrolmentRow = {
  workspace_id: string
  journey_id: string
  customer_id: string
  enrolled_ms: number
}

/** The key of a row; tables are read in key order. */
export type RowKey = readonly (string | number)[]

/** Some rows of a table, and where the next ones begin. */
export type Rows = { rows: Row[]; place: RowKey | undefined }

/** What webhooks have not been told, by the order of arrival of an engine. */
export type Untold = { events: UntoldAfter; customers: UntoldAfter }

/**
 * When the first one of a workspace arrived that is after a cursor, or since `from_ms` if there is none; if all were told, an
 * instant after them.
 */
type UntoldAfter = (
  workspaceId: string,
  cursor: string | null,
  from_ms: number,
) => Promise<UntoldSince> | UntoldSince

type UntoldSince = { first_ms: number } | { after_ms: number }

/** Reads rows of a shared table in key order. */
export async function readShared(
  db: Kysely<DB>,
  table: SharedTable,
  place: RowKey | undefined,
  limit: number,
  untold: Untold,
): Promise<Rows> {
  const key = sharedKeys[table]
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const behind = place ? sql`WHERE (${columns}) > (${sql.join(place)})` : sql``
  const found = await sql<Record<string, string | number | null>>`SELECT * FROM ${sql.table(table)} ${behind}
    ORDER BY ${columns} LIMIT ${sql.lit(limit)}`.execute(db)
  const last = found.rows.at(-1)
  const rows: Row[] = []
  for (const row of found.rows) {
    const portable = withoutReferences(row)
    rows.push(table === 'webhooks' ? { ...portable, from_ms: await untoldFrom(row, untold) } : portable)
  }
  return { rows, place: last && key.map((column) => last[column] ?? '') }
}

/** Row numbers are internal to an engine; so are cursors, and who is working on something. */
function withoutReferences(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !/_ref$|_cursor$|^lease_/.test(name)))
}

/**
 * Returns the instant that replaces the cursors of a webhook: everything before it was told. What was told since is read
 * again, and recognized by its delivery. A list of which everything was told does not count: if nothing has happened in it
 * for long, it would lead to an instant that is older than the deliveries of the others.
 */
async function untoldFrom(row: Row, { events, customers }: Untold): Promise<number> {
  const types: string[] = JSON.parse(String(row.types))
  const lists = [
    ['event.created', row.event_cursor, events],
    ['journey.', row.journey_cursor, events],
    ['customer.created', row.customer_cursor, customers],
  ] as const
  const wanted = lists.filter(([prefix]) => types.some((type) => type.startsWith(prefix)))
  const from_ms = Number(row.from_ms)
  // Nothing was read yet, or this is a copy, which is read to be compared.
  if (wanted.every(([, cursor]) => cursor === null)) return from_ms
  const firsts_ms: number[] = []
  let after_ms = from_ms
  for (const [, cursor, untoldAfter] of wanted) {
    const since = await untoldAfter(String(row.workspace_id), cursor == null ? null : String(cursor), from_ms)
    if ('first_ms' in since) firsts_ms.push(since.first_ms)
    else after_ms = Math.max(after_ms, since.after_ms)
  }
  return firsts_ms.length === 0 ? after_ms : Math.max(from_ms, Math.min(...firsts_ms))
}

/** Writes rows of a shared table. */
export async function writeShared(db: Transaction<DB>, table: SharedTable, rows: readonly Row[]) {
  const [first] = rows
  if (!first) return
  const names = Object.keys(first)
  const columns = sql.join(names.map((name) => sql.ref(name)))
  const values = rows.map((row) => sql`(${sql.join(names.map((name) => row[name] ?? null))})`)
  await sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES ${sql.join(values)}`.execute(db)
}
