/** A thread that reads, so that a long list holds up neither the event loop nor the writer. */
import { parentPort, workerData } from 'node:worker_threads'
import { openReadable } from './connection.ts'
import { runStatement, type Statement, type StatementResult } from './statement.ts'
import { CustomerRing } from './tail.ts'

export type ReaderRequest = Statement | 'close'

const connection = openReadable(workerData.path)
const ring = new CustomerRing(workerData.ring)

// In SQL, so that what is indexed and what is not yet are read in one transaction.
connection.table('unindexed_events', {
  parameters: ['customer_ref', 'indexed_seq'],
  columns: ['seq'],
  *rows(customer_ref, indexed_seq) {
    if (customer_ref === null) return
    for (const seq of ring.behind(Number(indexed_seq), Number(customer_ref))) yield [seq]
  },
})

parentPort?.on('message', (request: ReaderRequest) => {
  if (request === 'close') {
    connection.close()
    parentPort?.close()
  } else {
    parentPort?.postMessage(runStatement(connection, request) satisfies StatementResult)
  }
})

parentPort?.postMessage('opened')
