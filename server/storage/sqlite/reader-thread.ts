/** A thread that reads, so that a long list holds up neither the event loop nor the writer. */
import { parentPort, workerData } from 'node:worker_threads'
import { openReadable } from './connection.ts'
import { EventReader, type EventRows, type EventsRequest } from './event-reader.ts'
import { type Failure, failureOf, runStatement, type Statement } from './statement.ts'
import { TailRing } from './tail.ts'

/** What a thread reads at a time. */
export type ReaderWork =
  | { kind: 'statement'; statement: Statement }
  | { kind: 'events'; request: EventsRequest }

export type ReaderRequest = ReaderWork | 'close'

export type ReaderResult = { read: unknown[] | EventRows } | { failure: Failure }

const connection = openReadable(workerData.path)
const events = new EventReader(connection, new TailRing(workerData.ring))

function read(work: ReaderWork): ReaderResult {
  if (work.kind === 'statement') {
    const result = runStatement(connection, work.statement)
    return 'failure' in result ? result : { read: result.rows }
  }
  try {
    return { read: events.read(work.request) }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

parentPort?.on('message', (request: ReaderRequest) => {
  if (request === 'close') {
    connection.close()
    parentPort?.close()
  } else {
    parentPort?.postMessage(read(request))
  }
})

parentPort?.postMessage('opened')
