import type { ReadActivity } from './activity/activity.ts'
import type { Database, Reading, ReadingDatabase } from './database.ts'
import type { EventStore } from './events/event-store.ts'
import type { GuessCounts } from './guess-counts.ts'
import type { Arrived } from './lists/arrived-customers.ts'
import type { RefusalLimits } from './refusals/refusal-bounds.ts'
import type { RefusalStatistics, RefusalStore } from './refusals/refusals.ts'
import type { RemovalStore } from './removals/removal-store.ts'
import type { Standings } from './standings/standings.ts'

export type StorageOptions = {
  /** `sqlite:PATH` or `postgres://…` */
  url: string
  /** Milliseconds since 1970. */
  now: () => number
  /** Called when a transaction here may have changed service keys, before whoever asked for it is answered. */
  onKeyChange: () => void
  /** Called when another program may have committed: anything may have changed. */
  onOutsideChange: () => void
  /** Called when the store can no longer work; the process should end. */
  onDeath: (error: Error) => void
  /** Called when a group of writes has been answered, or could not be. */
  onGroup?: (group: CommittedGroup) => void
  /** Called when indexes could not be filled. Nothing is lost; it is tried again. */
  onIndexingFailure?: (error: Error) => void
  /** Called when writes begin to be refused for the disk's sake, and when they are taken again. */
  onDisk?: (disk: Disk) => void
  /** How much is kept of what was refused. */
  refusalLimits?: RefusalLimits
  /** Called when refusals could not be kept. */
  onRefusalsFailure?: (error: Error) => void
  /**
   * Where erasures are noted outside of the store, to be done again in one that is put back. A file of this machine has one
   * beside it unless another is named; a database has none unless it is named.
   */
  erasuresFile?: string | undefined
  /** Called when what is to be removed could not be. It is tried again. */
  onRemovalFailure?: (error: Error) => void
}

/** Writes that were made in one transaction. */
export type CommittedGroup = {
  rows: number
  /** From being handed to the writer to being on disk. */
  commit_ms: number
  /** Whether any of it is not on disk. */
  failed: boolean
}

/** How busy the store is. Of an engine that indexes as it writes, and whose disk is its own, the figures say nothing. */
export type StorageStatistics = {
  /** Rows that wait to be written; those of the group that is being committed wait no more. */
  waitingRows: number
  waitingTransactions: number
  /** Events that are stored and readable, but not in the indexes yet. */
  unindexedEvents: number
  /** The longest since the store was opened for which a group of writes has waited for indexing. */
  longestIndexingPause_ms: number
  listReads: ListReads
  disk: Disk
  refusals: RefusalStatistics
  /** Open connections to the engine, where it is another process. */
  connections?: number
}

/** The disk of the store, and the log on it: what is committed but not in its place in the file yet. */
export type Disk = {
  /** The room that the log takes. */
  log_bytes: number
  /** How much of it is still to be moved into the file. */
  unmoved_bytes: number
  /** Null where the system does not tell. */
  free_bytes: number | null
  /** Why writes are refused: `disk`, which has too little room, or `log`, which has grown too long behind a reader. */
  refusing: 'disk' | 'log' | null
}

/** What is read for lists and reports: how much waits, and how the rest since the store was opened has ended. */
export type ListReads = {
  waiting: number
  answered: number
  /** At once, because too much waited. */
  refused: number
  /** Not read by the deadline. */
  overdue: number
  /** Its caller had gone. */
  abandoned: number
}

/** All that the service keeps, as requests use it. */
export type ServedStorage = {
  /** For transactions, and for look-ups of a few rows by their keys, which ingestion and signing in wait for. */
  db: Database
  /**
   * For lists. They take turns with those of other callers and workspaces, and end when their caller goes.
   * @throws {Unavailable} from every query where too much waits, or it is not read within seconds
   */
  lists(reading: Reading): ReadingDatabase
  events: EventStore
  /** How far customers can be walked forward now, and in which order. To be asked before they are read. */
  arrivedCustomers(reading: Reading): Promise<Arrived>
  /** What time it is for all who use the store, in milliseconds: what was committed before is in what is read after this. */
  clock_ms(reading: Reading): Promise<number>
  activity: ReadActivity
  /** Where customers stand in their journeys. */
  standings: Standings
  /** What was refused for its content. */
  refusals: RefusalStore
  removals: RemovalStore
  /**
   * @param workspaceId whose events or customers are to be written: of each only so many may wait
   * @throws {Unavailable} where a look-up or a write would be refused now
   */
  assertAvailable(use: 'read' | 'write', workspaceId?: string): void
  /** Notes the use of a service key; committed together with what else is being written. */
  noteKeyUse(keyId: string): Promise<void>
  /** Commits a write that changes nothing. @throws {Error} where that fails */
  assertWritable(): Promise<void>
}

/** The same, as who has opened it has it. */
export type Storage = ServedStorage & {
  /** Where several processes can be on the store: what they count together. */
  guesses?: GuessCounts
  statistics(): StorageStatistics
  /** Finishes what was taken and closes. */
  close(): Promise<void>
}
