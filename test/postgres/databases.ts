import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { postgresUrl } from './server.ts'
import { runSql } from './sql.ts'

const made: string[] = []

/**
 * Makes a database on the server of the run, and gives its URL. It is dropped when the file's tests have ended.
 * @param template what it is a copy of; `template1` is empty
 */
export async function newDatabase(template = inject('postgres').template): Promise<string> {
  const name = `cairn_${randomBytes(8).toString('hex')}`
  const { folder } = inject('postgres')
  // The files of a small template are copied sooner than its pages are written to the log.
  await runSql(postgresUrl(folder), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  made.push(name)
  return postgresUrl(folder, name)
}

/** Drops the databases that this test file has made. */
export async function dropDatabases() {
  if (made.length === 0) return
  const drop = made.splice(0).map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await runSql(postgresUrl(inject('postgres').folder), ...drop)
}
