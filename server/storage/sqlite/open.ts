import { Kysely } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { JsonBytes } from '../../domain/json-bytes.ts'
import type { Reading, ReadingDatabase } from '../database.ts'
import { inTransaction } from '../in-transaction.ts'
import { sumOfReads } from '../lists/list-queue.ts'
import { DEFAULT_LIMITS } from '../refusals/refusal-bounds.ts'
import { Refusals } from '../refusals/refusals.ts'
import { ErasureJournal } from '../removals/erasure-journal.ts'
import { erasedNames } from '../removals/erasures.ts'
import { RemovalWork } from '../removals/removal-work.ts'
import { forgetOwnNames, ownNames } from '../removals/removals.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { sqliteEventStore } from './event-store.ts'
import { MemtableRing } from './index/memtable.ts'
import { arrivedCustomers } from './reader/arrived-customers.ts'
import { Reader } from './reader/reader.ts'
import { SqliteRefusalTable } from './refusals/sqlite-refusal-table.ts'
import {
  countEnrolments,
  forgetJourney,
  removeCustomer,
  removeJourney,
  removeOwn,
} from './removals/sqlite-removals.ts'
import { openSqliteStandings } from './standings/sqlite-standings.ts'
import type { Statement } from './statement.ts'
import { ERASURES } from './store-files.ts'
import { ThreadDialect } from './thread-dialect.ts'
import { WriteScheduler } from './writer/write-scheduler.ts'

type SqliteOptions = Omit<StorageOptions, 'url'> & {
  /** A file of erasures that is only read; undefined: there is none. */
  earlierErasures?: string | undefined
}

/** Opens the store of a serving process: one thread writes, others read, and this one does neither. */
export async function openSqlite(path: string, options: SqliteOptions): Promise<Storage> {
  const { now, onMigration, onKeyChange, onOutsideChange, onDeath } = options
  const { onGroup = () => {}, onIndexingFailure = () => {}, onDisk = () => {} } = options
  const {
    refusalLimits = DEFAULT_LIMITS,
    onRefusalsFailure = () => {},
    onRemovalFailure = () => {},
    erasuresFile,
    earlierErasures,
  } = options
  // Before any thread is started, which would keep a process from ending that cannot read it.
  const journal = new ErasureJournal(erasuresFile ?? path + ERASURES)
  const earlier = earlierErasures === undefined ? [] : [...new ErasureJournal(earlierErasures).noted]
  const ring = new MemtableRing()
  let groups = 0
  const counted: typeof onGroup = (group) => {
    groups += 1
    onGroup(group)
  }
  const told = { onMigration, onOutsideChange, onDeath, onGroup: counted, onIndexingFailure, onDisk }
  const scheduler = await WriteScheduler.open({ path, ring, now, ...told })
  // After the readers, so that work that is not urgent waits for their threads to start.
  const reader = await Reader.open({ path, ring, onDeath }).catch(async (error) => {
    await scheduler.close(Promise.resolve())
    throw error
  })
  const standings = await openSqliteStandings({ path, ring, now, onFailure: onIndexingFailure })
  const refusals = new Refusals({
    table: new SqliteRefusalTable(path),
    limits: refusalLimits,
    now,
    erasedNames: (workspaceId) => erasedNames(refusalsDb, workspaceId),
    onFailure: onRefusalsFailure,
  })
  const database = (read: (statement: Statement) => Promise<unknown[]>) =>
    new Kysely<DB>({ dialect: new ThreadDialect({ read, scheduler, onKeyChange }) })
  // Read-only; the type has no transactions.
  const lists = (reading: Reading) =>
    database((statement) => reader.rows(statement, reading)) as ReadingDatabase
  const db = database((statement) => reader.lookUp(statement))
  // Stays open until the last refusals are written.
  const refusalsDb = database((statement) => reader.lookUpWhileClosing(statement))
  const close = async (removing?: RemovalWork) => {
    reader.refuseNew()
    // Refusals are checked against erasures before they are written.
    const refusalsEnd = refusals.close().finally(() => reader.close())
    await scheduler.close(Promise.all([removing?.close(), standings.close(), refusalsEnd]))
  }
  try {
    await journal.note(earlier)
    await journal.reconcile(db, { removeCustomer }, now())
  } catch (error) {
    await close()
    throw error
  }
  const removing = new RemovalWork({
    db,
    now,
    engine: {
      slice: (removal) => scheduler.remove(removal),
      removeJourney,
      forgetJourney,
      removeOwn,
      async purge(removal) {
        const isNamed = removal.kind === 'customer' && ownNames(removal)
        if (isNamed) await inTransaction(db, (db) => forgetOwnNames(db, removal))
        return await scheduler.truncateLog()
      },
    },
    refusals,
    journal,
    groups: () => groups,
    onFailure: onRemovalFailure,
  })
  return {
    db,
    lists,
    events: sqliteEventStore(reader, scheduler, now),
    arrivedCustomers: (reading) => arrivedCustomers(lists(reading), reading.workspaceId, now()),
    clock_ms: async () => now(),
    async activity(workspace_id, request, reading) {
      const work = { kind: 'activity', workspace_id, request, now_ms: now() } as const
      return new JsonBytes(await reader.activity(work, reading))
    },
    standings,
    refusals,
    removals: {
      removeCustomer,
      removeJourney,
      countEnrolments,
      note: (erasure) => removing.note(erasure),
      begin: () => removing.begin(),
    },
    assertAvailable(use, workspaceId) {
      if (use === 'read') reader.assertAvailable()
      else scheduler.assertAvailable(workspaceId)
    },
    async noteKeyUse(key_id) {
      await scheduler.submit({ kind: 'key-used', key_id })
    },
    async assertWritable() {
      await scheduler.submit({ kind: 'probe' })
    },
    statistics: () => ({
      ...scheduler.statistics(),
      listReads: sumOfReads(reader.statistics(), standings.statistics()),
      refusals: refusals.statistics(),
    }),
    close: () => close(removing),
  }
}
