import { UNFINISHED_COPY, unfinishedCopy } from '../../transfer/unfinished-copy.ts'
import { type Connection, openReadable } from '../connection.ts'

/** Whether a copy into the file has begun and not finished. */
export function isBeingCopied(connection: Connection): boolean {
  return (
    connection.prepare<[string]>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(UNFINISHED_COPY) !==
    undefined
  )
}

/** @throws {Error} with a message for the operator if the file is an unfinished copy */
export function assertWhole(path: string): void {
  const connection = openReadable(path)
  try {
    if (!isBeingCopied(connection)) return
  } finally {
    connection.close()
  }
  throw unfinishedCopy(path)
}
