/** The thread that writes and reads refusals, in a file of their own. It runs at the lowest priority. */
import { type Stats, statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../../threads/priority.ts'
import type { Failure } from '../../unavailable.ts'
import { type Connection, hasItsFiles, isDamage } from '../connection.ts'
import { openWithLayout, removeDerived } from '../derived-file.ts'
import { failureOf, type Statement } from '../statement.ts'
import { REFUSALS_LAYOUT } from './refusals-file.ts'

/** The statements of one transaction, with the number of the request. */
export type RefusalsRequest = { number: number; statements: readonly Statement[] | 'truncate-log' } | 'close'

export type RefusalsReply = { number: number; result: { rows: unknown[][] } | { failure: Failure } }

export type RefusalsThreadData = { path: string }

const { path }: RefusalsThreadData = workerData
lowerPriority()

let open: { connection: Connection; file: Stats } | undefined

/** Returns the connection to the file that has the path now. */
function opened(): Connection {
  if (open && !hasItsFiles(path, open.file)) close()
  open ??= { connection: openWithLayout(path, REFUSALS_LAYOUT), file: statSync(path) }
  return open.connection
}

function close() {
  open?.connection.close()
  open = undefined
}

/** @returns the rows of each statement */
function run(statements: readonly Statement[] | 'truncate-log'): unknown[][] {
  const connection = opened()
  if (statements === 'truncate-log') return [connection.pragma('wal_checkpoint(TRUNCATE)') as unknown[]]
  return connection.transaction(() =>
    statements.map(({ sql, parameters }) => {
      const statement = connection.prepare(sql)
      if (statement.reader) return statement.all(...parameters)
      statement.run(...parameters)
      return []
    }),
  )()
}

parentPort?.on('message', (request: RefusalsRequest) => {
  if (request === 'close') {
    close()
    parentPort?.close()
    return
  }
  const { number, statements } = request
  let result: RefusalsReply['result']
  try {
    result = { rows: run(statements) }
  } catch (error) {
    result = { failure: failureOf(error) }
    // The next request opens it again, and creates another one if it is damaged.
    close()
    if (isDamage(error)) removeDerived(path)
  }
  parentPort?.postMessage({ number, result } satisfies RefusalsReply)
})
