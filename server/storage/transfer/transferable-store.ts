import type { Place, Row, Rows, TableName } from './tables.ts'

/** A store whose rows are read and written as they are. Nobody serves it meanwhile. */
export type TransferableStore = {
  /** Rows behind a place, in an order of the engine's own; none at the end. */
  read(table: TableName, place: Place | undefined, limit: number): Promise<Rows>
  /** Writes rows and notes how far the copy has come, in one transaction. */
  write(table: TableName, rows: readonly Row[], progress: string): Promise<void>
  /** What was noted last; undefined where no copy has begun, or it has ended. */
  progress(): Promise<string | undefined>
  /** How many rows a table has. */
  count(table: TableName): Promise<number>
  /** Lets the store be served: what was copied into it is whole. */
  finish(): Promise<void>
  close(): Promise<void>
}
