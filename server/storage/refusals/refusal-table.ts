import type { CompiledQuery, Kysely } from 'kysely'
import type { Reading } from '../database.ts'

/** A refusal as it is kept. What decides about its place comes first, so that no long text is read for it. */
export type RefusalRow = {
  workspace_id: string
  refusal_id: string
  received_ms: number
  /** What it counts for against the bound in bytes, and takes of a page. */
  bytes: number
  /** How many came after it within a minute and were not kept: those of its key, code, operation, field, journey and event name. */
  left_out: number
  key_id: string
  operation: string
  code: string
  /** What it is about, as `fieldOf` has it. */
  field: string
  status: number
  /** What the request or the item of the batch names, where that can be read. */
  journey_id: string | null
  customer_id: string | null
  event_id: string | null
  request_id: string
  /** Its place in the batch; null: it was the whole request. */
  item: number | null
  /** JSON: `errors` and `errors_omitted` of the problem. */
  faults: string
  /** The head of what was sent, JSON. */
  sent: string
  /** How many bytes were sent; 0 in a row that has nothing of what was sent and only counts. */
  sent_bytes: number
  /** When it was last sent again, and JSON of what became of it. */
  replayed_ms: number | null
  replay: string | null
}

export type RefusalTables = { refusals: RefusalRow }

/** What an engine gives for refusals: their table, apart from where ingestion writes. */
export type RefusalTable = {
  /** For lists, which take turns with those of other callers. Only reads. */
  lists(reading: Reading): Kysely<RefusalTables>
  /** Compiles statements for `run`. */
  compiler: Kysely<RefusalTables>
  /**
   * Runs statements in one transaction. It need not be on disk when it has ended.
   * @returns the rows of each
   * @throws {Unavailable}
   */
  run<Row>(statements: readonly CompiledQuery<Row>[]): Promise<Row[][]>
  /** Lets nothing stay in a log that was removed. @returns false: somebody reads there; try again */
  cutLogOff: () => Promise<boolean>
  close(): Promise<void>
}
