import { rmSync } from 'node:fs'
import { type Connection, isDamage } from './connection.ts'
import { DERIVED_COMPANIONS } from './store-files.ts'

/** The layout of a file of derived data. A file with another version is deleted and rebuilt. */
export type Layout = {
  version: number
  /** Creates the tables. */
  statements: readonly string[]
  /** Opens the file for writing, and creates an empty one if it does not exist. */
  open: (path: string) => Connection
}

/**
 * Opens a file for writing. Creates it if it is missing, has another layout, is not a database, or is damaged.
 * @throws {Error} if it can be neither opened nor created; what is in it stays
 */
export function openWithLayout(path: string, layout: Layout): Connection {
  let connection: Connection | undefined
  try {
    connection = layout.open(path)
    if (connection.pragma('user_version', { simple: true }) === layout.version) return connection
  } catch (error) {
    if (!isDamage(error)) {
      connection?.close()
      throw error
    }
  }
  connection?.close()
  return createEmpty(path, layout)
}

/** Deletes the file and creates one without rows. */
export function createEmpty(path: string, { version, statements, open }: Layout): Connection {
  removeDerived(path)
  const connection = open(path)
  try {
    connection.transaction(() => {
      for (const statement of statements) connection.exec(statement)
      connection.pragma(`user_version = ${version}`)
    })()
  } catch (error) {
    connection.close()
    throw error
  }
  return connection
}

/** Deletes a file of derived data, and what SQLite keeps next to it. */
export function removeDerived(path: string): void {
  for (const suffix of ['', ...DERIVED_COMPANIONS]) rmSync(path + suffix, { force: true })
}
