import type { Row, RowKey, Rows, TableName } from './tables.ts'

/** A store whose rows are read and written in raw form. Nobody serves it meanwhile. */
export type TransferableStore = {
  /** Rows after a position, in the engine's own order; none at the end. */
  read(table: TableName, place: RowKey | undefined, limit: number): Promise<Rows>
  /** Writes rows and saves the progress of the copy, in one transaction. */
  write(table: TableName, rows: readonly Row[], progress: string): Promise<void>
  /** The progress saved last; undefined if no copy has begun, or it has finished. */
  progress(): Promise<string | undefined>
  /** The number of rows in a table. */
  count(table: TableName): Promise<number>
  /** Marks the copy as complete, so that the store may be served; what is sent is counted from now on. */
  finish(): Promise<void>
  close(): Promise<void>
}
