/** A thread that reads, so that a long list holds up neither the event loop nor the writer. */
import { parentPort, workerData } from 'node:worker_threads'
import { openReadable } from './connection.ts'
import { runStatement, type Statement, type StatementResult } from './statement.ts'

export type ReaderRequest = Statement | 'close'

const connection = openReadable(workerData.path)

parentPort?.on('message', (request: ReaderRequest) => {
  if (request === 'close') {
    connection.close()
    parentPort?.close()
  } else {
    parentPort?.postMessage(runStatement(connection, request) satisfies StatementResult)
  }
})

parentPort?.postMessage('opened')
