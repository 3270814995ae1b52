import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { postgresUrl } from './server.ts'
import { runSql } from './sql.ts'

const made: string[] = []

/**
 * Creates a database on the server of the run and returns its URL. It is dropped at the end of the test file.
 * @param template the database to copy; `template1` is empty
 */
export async function newDatabase(template = inject('postgres').template): Promise<string> {
  const name = `cairn_${randomBytes(8).toString('hex')}`
  const { folder } = inject('postgres')
  // Copying the files of a small template is faster than writing its pages to the write-ahead log.
  await runSql(postgresUrl(folder), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  made.push(name)
  return postgresUrl(folder, name)
}

/** Drops the databases that this test file created. */
export async function dropDatabases() {
  if (made.length === 0) return
  const drop = made.splice(0).map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await runSql(postgresUrl(inject('postgres').folder), ...drop)
}
