import { closeSync, openSync, writeSync } from 'node:fs'
import { argv } from 'node:process'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { TypeID } from 'typeid-js'
import { wholeId } from '../../server/storage/sqlite/kept-ids.ts'

/** Options of a minimal program that reads all events of a store and builds the lines of an export from them. */
export type BareExportOptions = { databaseUrl: string }
export type BareExport = { events: number; seconds: number }

/** Size of the output buffer in characters. */
const WRITTEN_LENGTH = 512 * 1024

/** Rows fetched at a time from PostgreSQL, so that they need not all fit in memory. */
const FETCHED_ROWS = 1_000

/** An event as the API lists it; the variables stay JSON text. */
type Line = {
  id: string
  journey_id: string
  customer_id: string
  event_id: string
  custom_variables: string | null
  occurred_ms: number
  received_ms: number
  message_id: string | null
  key_id: string | null
}

/** Writes lines to /dev/null. */
class Out {
  readonly #file = openSync('/dev/null', 'w')
  #text = ''
  events = 0

  add({ custom_variables, occurred_ms, received_ms, message_id, ...names }: Line): void {
    const head = JSON.stringify(names).slice(0, -1)
    const times = `"occurred_at":"${new Date(occurred_ms).toISOString()}","received_at":"${new Date(received_ms).toISOString()}"`
    this.#text += `${head},"custom_variables":${custom_variables},${times},"message_id":${JSON.stringify(message_id)}}\n`
    this.events += 1
    if (this.#text.length >= WRITTEN_LENGTH) this.#write()
  }

  end(): number {
    this.#write()
    closeSync(this.#file)
    return this.events
  }

  #write() {
    writeSync(this.#file, this.#text)
    this.#text = ''
  }
}

type FileRow = Omit<Line, 'id' | 'occurred_ms' | 'message_id'> & {
  id: Uint8Array
  occurred_ms: number | null
  message_id: Uint8Array | string | null
}

function readFile(path: string): number {
  const database = new Database(path, { readonly: true })
  const rows = database
    .prepare<[], FileRow>(
      `SELECT id, journey_id, customer_id, event_id, custom_variables, occurred_ms, received_ms, message_id, key_id
      FROM events JOIN journeys USING (journey_ref) JOIN customers USING (customer_ref) LEFT JOIN event_keys USING (key_ref)
      ORDER BY seq`,
    )
    .iterate()
  const out = new Out()
  for (const row of rows) {
    const { occurred_ms, message_id } = row
    const message = typeof message_id === 'string' || message_id === null ? message_id : uuidOf(message_id)
    out.add({
      ...row,
      id: `evt_${TypeID.fromUUIDBytes('', wholeId(row)).getSuffix()}`,
      occurred_ms: occurred_ms ?? row.received_ms,
      message_id: message,
    })
  }
  database.close()
  return out.end()
}

function uuidOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

type DatabaseRow = Omit<Line, 'occurred_ms' | 'received_ms'> & {
  at_ms: string
  received_ms: string | null
  message_text: string | null
}

async function readDatabase(connectionString: string): Promise<number> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query('BEGIN')
  await client.query(
    `DECLARE exported CURSOR FOR SELECT id, journey_id, customer_id, event_id, custom_variables, at_ms, received_ms,
      message_id, message_text, key_id FROM events ORDER BY workspace_id, id`,
  )
  const out = new Out()
  for (;;) {
    const { rows } = await client.query<DatabaseRow>(`FETCH ${FETCHED_ROWS} FROM exported`)
    if (rows.length === 0) break
    for (const { at_ms, received_ms, message_text, ...row } of rows) {
      out.add({
        ...row,
        id: TypeID.fromUUID('evt', row.id).toString(),
        journey_id: TypeID.fromUUID('jrn', row.journey_id).toString(),
        customer_id: TypeID.fromUUID('cus', row.customer_id).toString(),
        key_id: row.key_id && TypeID.fromUUID('key', row.key_id).toString(),
        occurred_ms: Number(at_ms),
        received_ms: Number(received_ms ?? Number.parseInt(row.id.replace('-', '').slice(0, 12), 16)),
        message_id: message_text ?? row.message_id,
      })
    }
  }
  await client.end()
  return out.end()
}

const { databaseUrl }: BareExportOptions = JSON.parse(argv[2] ?? '{}')
const began_ms = performance.now()
const isFile = databaseUrl.startsWith('sqlite:')
const events = isFile ? readFile(databaseUrl.slice('sqlite:'.length)) : await readDatabase(databaseUrl)
const seconds = (performance.now() - began_ms) / 1000
process.stdout.write(JSON.stringify({ events, seconds } satisfies BareExport))
