import { type Connection, openReadable } from './connection.ts'

/** There while a copy into the file has not ended: the file must not be served. */
export const UNFINISHED_COPY = 'unfinished_copy'

/** Whether a copy into the file has begun and not ended. */
export function isBeingCopied(connection: Connection): boolean {
  return (
    connection.prepare<[string]>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(UNFINISHED_COPY) !==
    undefined
  )
}

/** @throws {Error} with a message for the operator where the file is a part of a copy */
export function assertWhole(path: string): void {
  const connection = openReadable(path)
  try {
    if (!isBeingCopied(connection)) return
  } finally {
    connection.close()
  }
  throw new Error(`The copy into ${path} has not ended. Run the same cairn copy again, and it goes on.`)
}
