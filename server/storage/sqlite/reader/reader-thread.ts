/** A reader thread, so that a long list blocks neither the event loop nor the writer. */
import { parentPort, workerData } from 'node:worker_threads'
import { pageText } from '../../../domain/paging.ts'
import type { ActivityRequest } from '../../activity/activity.ts'
import type { CountFilter } from '../../events/event-filter.ts'
import type { CountedEvents, CustomerActivity } from '../../events/event-store.ts'
import type { EventSliceRequest, Slice } from '../../exports/exports.ts'
import type { FileIdentity } from '../../same-file.ts'
import { lowerPriority } from '../../threads/priority.ts'
import type { Failure } from '../../unavailable.ts'
import { openServed } from '../connection.ts'
import { MemtableRing } from '../index/memtable.ts'
import { failureOf, runStatement, type Statement } from '../statement.ts'
import { ActivityReader } from './activity-reader.ts'
import { EventReader, type EventsRequest } from './event-reader.ts'

/** One unit of work of a reader thread. */
export type ReaderWork =
  | { kind: 'statement'; statement: Statement }
  | { kind: 'events'; request: EventsRequest }
  | { kind: 'event-slice'; request: EventSliceRequest }
  | { kind: 'count'; workspace_id: string; filter: CountFilter }
  | { kind: 'customer-activity'; workspace_id: string; customer_ids: readonly string[] }
  | { kind: 'activity'; workspace_id: string; request: ActivityRequest; now_ms: number }

export type ReaderRequest = ReaderWork | 'close'

type Read = unknown[] | Uint8Array<ArrayBuffer> | Slice | CountedEvents | Map<string, CustomerActivity>

/** Results of a reader thread; `opened` is sent first. */
export type ReaderResult = 'opened' | { read: Read } | { failure: Failure }

export type ReaderThreadData = {
  path: string
  file: FileIdentity
  ring: MemtableRing['buffer']
  /** Whether it reads lists for people, which may wait, rather than look-ups that requests depend on. */
  isForLists: boolean
}

/** Keys, sessions and members take few pages. */
const LOOK_UP_CACHE_KIB = 8_192

const data: ReaderThreadData = workerData
// Lists yield the processor to everything else when processors are short.
if (data.isForLists) lowerPriority()
const connection = openServed(data.path, data.file, data.isForLists ? undefined : LOOK_UP_CACHE_KIB)
/** Created on first use: if their statements cannot be prepared, only the requests that need them fail. */
let events: EventReader | undefined
let activity: ActivityReader | undefined

function read(work: ReaderWork): Exclude<ReaderResult, 'opened'> {
  if (work.kind === 'statement') {
    const result = runStatement(connection, work.statement)
    return 'failure' in result ? result : { read: result.rows }
  }
  try {
    if (work.kind === 'activity') {
      activity ??= new ActivityReader(connection)
      const { workspace_id, request, now_ms } = work
      const text = JSON.stringify(activity.read(workspace_id, request, now_ms))
      return { read: new TextEncoder().encode(text) }
    }
    events ??= new EventReader(connection, new MemtableRing(data.ring))
    if (work.kind === 'count') return { read: events.count(work.workspace_id, work.filter) }
    if (work.kind === 'customer-activity') {
      return { read: events.customerActivity(work.workspace_id, work.customer_ids) }
    }
    // A slice has its own memory, which is transferred; so does a page.
    if (work.kind === 'event-slice') return { read: events.slice(work.request) }
    return { read: new TextEncoder().encode(pageText(events.read(work.request))) }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

/** Buffers that are transferred to the other thread instead of copied. */
function handedOver(read: Read): ArrayBuffer[] {
  if (read instanceof Uint8Array) return [read.buffer]
  return 'bytes' in read ? [read.bytes.buffer] : []
}

parentPort?.on('message', (request: ReaderRequest) => {
  if (request === 'close') {
    connection.close()
    parentPort?.close()
  } else {
    const result = read(request)
    parentPort?.postMessage(result, 'read' in result ? handedOver(result.read) : [])
  }
})

parentPort?.postMessage('opened' satisfies ReaderResult)
