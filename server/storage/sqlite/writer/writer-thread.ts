/**
 * The thread that owns the only writing connection. It handles messages strictly in order: groups of units, each in
 * one transaction, and the statements of a transaction that the main thread has begun.
 */
import { type MessagePort, workerData } from 'node:worker_threads'
import { InUse } from '../../../in-use.ts'
import type { BegunMigration } from '../../migrate.ts'
import type { RemovedSlice } from '../../removals/removals.ts'
import type { Disk } from '../../storage.ts'
import { assertWhole } from '../../transfer/unfinished-copy.ts'
import type { Failure } from '../../unavailable.ts'
import { assertWritable, openReadable } from '../connection.ts'
import { MemtableRing } from '../index/memtable.ts'
import { hasTable, migrateFile } from '../migrate-file.ts'
import type { RemovalName } from '../removals/event-remover.ts'
import type { Statement, StatementResult } from '../statement.ts'
import { IndexingPauses } from './indexing-pauses.ts'
import { ServerLock } from './server-lock.ts'
import { type Packed, packResults, unpackGroup } from './wire-format.ts'
import { WritingConnection } from './writing-connection.ts'

export type WriterRequest =
  /** `sent_ms` is the time of sending, by the clock that all threads share. */
  | { kind: 'group'; units: Packed; now_ms: number; sent_ms: number }
  | { kind: 'statement'; statement: Statement }
  | { kind: 'remove'; removal: RemovalName }
  | { kind: 'truncate-log' }
  | { kind: 'close' }

export type WriterReply =
  | { kind: 'migrating'; begun: BegunMigration }
  | { kind: 'opened' }
  | { kind: 'refused'; message: string; isInUse: boolean }
  | { kind: 'group'; results: Packed; unindexedEvents: number }
  | { kind: 'statement'; result: StatementResult }
  | { kind: 'removed'; slice: RemovedSlice | { failure: Failure } }
  | { kind: 'log-truncated'; isEmpty: boolean }
  | { kind: 'changed-outside' }
  | { kind: 'indexed'; indexing: Indexing }
  | { kind: 'disk'; disk: Disk }

/** How far indexing is behind what is stored. */
export type Indexing = {
  unindexedEvents: number
  /** The longest wait of a group for indexing. */
  longestPause_ms: number
  failure?: Failure
}

/** Changes by other programs are noticed within a second, and a disk that fills up before it is full. */
const CHECK_MS = 200

/** Idle time after which the writer does work that is not urgent. */
const IDLE_MS = 50

/**
 * What the thread gets: the file, the ring where it records events that are not indexed yet, and the port for messages.
 */
export type WriterThreadData = { path: string; ring: SharedArrayBuffer; port: MessagePort }

await main(workerData)

async function main({ path, ring, port }: WriterThreadData) {
  const say = (reply: WriterReply) => port.postMessage(reply)
  let lock: ServerLock | undefined
  let writing: WritingConnection
  try {
    lock = new ServerLock(path)
    assertWritable(path)
    await migrateFile(path, (begun) => say({ kind: 'migrating', begun }))
    const reading = openReadable(path)
    await assertWhole(path, (table) => hasTable(reading, table)).finally(() => reading.close())
    writing = new WritingConnection(path, new MemtableRing(ring))
  } catch (error) {
    lock?.close()
    const message = error instanceof Error ? error.message : String(error)
    return say({ kind: 'refused', message, isInUse: error instanceof InUse })
  }

  const checkpointLog = () => {
    const disk = writing.checkpointLog()
    if (disk) say({ kind: 'disk', disk })
  }
  const timer = setInterval(() => {
    keepLock(lock)
    if (writing.changedOutside()) say({ kind: 'changed-outside' })
    checkpointLog()
  }, CHECK_MS)
  const pauses = new IndexingPauses()
  const index = (isIdle: boolean) => {
    const indexed = pauses.during(() => writing.index(isIdle))
    if (!indexed) return false
    const { unindexedEvents } = writing
    say({ kind: 'indexed', indexing: { ...indexed, unindexedEvents, longestPause_ms: pauses.longest_ms } })
    return true
  }
  const idle = setTimeout(() => {
    // Messages that have arrived meanwhile go first.
    if (index(true)) setImmediate(() => idle.refresh())
  }, IDLE_MS)
  port.on('message', (request: WriterRequest) => {
    if (writing.isLogGone) checkpointLog()
    if (request.kind === 'group') {
      pauses.waited(request.sent_ms)
      const results = writing.commitGroup(unpackGroup(request.units), request.now_ms)
      say({ kind: 'group', results: packResults(results), unindexedEvents: writing.unindexedEvents })
      if (writing.hasLogGrown) checkpointLog()
      // One slice at most: messages that have arrived meanwhile go before the next.
      index(false)
      idle.refresh()
    } else if (request.kind === 'statement') {
      say({ kind: 'statement', result: writing.run(request.statement) })
      idle.refresh()
    } else if (request.kind === 'remove') {
      say({ kind: 'removed', slice: pauses.during(() => writing.remove(request.removal)) })
      idle.refresh()
    } else if (request.kind === 'truncate-log') {
      say({ kind: 'log-truncated', isEmpty: pauses.during(() => writing.truncateLog()) })
    } else {
      clearInterval(timer)
      clearTimeout(idle)
      void writing.end().then(() => {
        lock?.close()
        port.close()
      })
    }
  })
  say({ kind: 'opened' })
}

/** @throws {InUse} if another server is running on the store, which ends this one */
function keepLock(lock: ServerLock) {
  try {
    lock.keep()
  } catch (error) {
    if (error instanceof InUse) throw error
    // It is tried again at the next check.
  }
}
