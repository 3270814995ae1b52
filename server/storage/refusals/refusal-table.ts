import type { CompiledQuery, Kysely } from 'kysely'
import type { Reading } from '../database.ts'

/** A refusal as it is stored. The fields that decide its position come first, so that no long text is read for them. */
export type RefusalRow = {
  workspace_id: string
  refusal_id: string
  received_ms: number
  /** Its size for the limit in bytes and in a page. */
  bytes: number
  /**
   * Number of similar ones within a minute that were not kept: same key, code, operation, field, journey and event
   * name.
   */
  left_out: number
  key_id: string
  operation: string
  code: string
  /** Its subject, from `fieldOf`. */
  field: string
  status: number
  /** What the request or batch item refers to, if that can be read. */
  journey_id: string | null
  customer_id: string | null
  event_id: string | null
  request_id: string
  /** Its index in the batch; null: it was the whole request. */
  item: number | null
  /** JSON: `errors` and `errors_omitted` of the problem. */
  faults: string
  /** The head of what was sent, JSON. */
  sent: string
  /** Number of bytes sent; 0 in a row without content that only counts. */
  sent_bytes: number
  /** When it was last replayed, and the outcome as JSON. */
  replayed_ms: number | null
  replay: string | null
}

export type RefusalTables = { refusals: RefusalRow }

/** What an engine provides for refusals: a table separate from where ingestion writes. */
export type RefusalTable = {
  /** For lists, which are queued fairly with those of other callers. Read-only. */
  lists(reading: Reading): Kysely<RefusalTables>
  /** Compiles statements for `run`. */
  compiler: Kysely<RefusalTables>
  /**
   * Runs statements in one transaction, which need not be on disk when it ends.
   * @returns the rows of each
   * @throws {Unavailable}
   */
  run<Row>(statements: readonly CompiledQuery<Row>[]): Promise<Row[][]>
  /** False if nothing was ever written, so that looking for rows would be in vain. */
  mayHaveRows(): boolean
  /**
   * Truncates the write-ahead log, so that nothing removed stays in it.
   * @returns false if a reader prevents it; try again
   */
  truncateLog: () => Promise<boolean>
  close(): Promise<void>
}
