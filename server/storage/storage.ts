import type { ReadActivity } from './activity/activity.ts'
import type { Database, Reading, ReadingDatabase } from './database.ts'
import type { EventStore } from './events/event-store.ts'
import type { GuessCounts } from './guess-counts.ts'
import type { Arrived } from './lists/arrived-customers.ts'
import type { BegunMigration } from './migrate.ts'
import type { RefusalLimits } from './refusals/refusal-bounds.ts'
import type { RefusalStatistics } from './refusals/refusal-writer.ts'
import type { RefusalStore } from './refusals/refusals.ts'
import type { RemovalStore } from './removals/removal-store.ts'
import type { Standings } from './standings/standings.ts'

export type StorageOptions = {
  /** `sqlite:PATH` or `postgres://…` */
  url: string
  /** Milliseconds since 1970. */
  now: () => number
  /** Called when a migration of an existing store begins. It may take long. */
  onMigration?: (begun: BegunMigration) => void
  /** Called when the store works, but not as well as it should, with what to change. */
  onAdvice?: (advice: string) => void
  /** Called when a transaction here may have changed service keys, before its caller gets the answer. */
  onKeyChange: () => void
  /**
   * Called when another program may have committed: anything may have changed. Resolves when nothing from before the call is
   * cached any more.
   */
  onOutsideChange: () => Promise<void> | void
  /** Called when the store can no longer work; the process should end. */
  onDeath: (error: Error) => void
  /** Called when a group of writes has been answered, or has failed. */
  onGroup?: (group: CommittedGroup) => void
  /** Called when indexing fails. Nothing is lost; it is retried. */
  onIndexingFailure?: (error: Error) => void
  /** Called when writes begin to be refused because of the disk, and when they are accepted again. */
  onDisk?: (disk: Disk) => void
  /** How many refusals are kept, and for how long. */
  refusalLimits?: RefusalLimits
  /** Called when refusals could not be kept. */
  onRefusalsFailure?: (error: Error) => void
  /**
   * The file outside the store where erasures are recorded, to be applied again after a restore. By default SQLite
   * keeps one next to the store; PostgreSQL has none unless it is configured.
   */
  erasuresFile?: string | undefined
  /** Called when a removal fails. It is retried. */
  onRemovalFailure?: (error: Error) => void
}

/** How a command opens a store. */
export type OpenDatabaseOptions = Pick<StorageOptions, 'onMigration'> & {
  /** Whether to create the store if there is none. */
  create: boolean
}

/** Writes that were committed in one transaction. */
export type CommittedGroup = {
  rows: number
  /** From being sent to the writer to being on disk. */
  commit_ms: number
  /** Whether any of it is not on disk. */
  failed: boolean
}

/**
 * Load figures of the store. For PostgreSQL, which indexes as it writes and has its own disk, the figures of indexing
 * and disk carry no information.
 */
export type StorageStatistics = {
  /** Rows queued for writing, without those of the group that is being committed. */
  waitingRows: number
  waitingTransactions: number
  /** Events that are stored and readable but not indexed yet. */
  unindexedEvents: number
  /** The longest wait of a group of writes for indexing since the store was opened. */
  longestIndexingPause_ms: number
  listReads: ListReads
  disk: Disk
  refusals: RefusalStatistics
  /** Open connections to the database server, if there is one. */
  connections?: number
}

/** The disk of the store, and the write-ahead log on it. */
export type Disk = {
  /** Size of the log. */
  log_bytes: number
  /** How much of the log is not checkpointed yet. */
  unmoved_bytes: number
  /** Null if the operating system does not report it. */
  free_bytes: number | null
  /**
   * Why writes are refused: `disk` has too little space, `log` has grown too long because of a reader, or `files` of the
   * open store were removed or replaced.
   */
  refusing: 'disk' | 'log' | 'files' | null
}

/** Reads for lists and reports: how many wait, and outcomes since the store was opened. */
export type ListReads = {
  waiting: number
  answered: number
  /** Refused at once, because too many waited (load shedding). */
  refused: number
  /** Not finished by the deadline. */
  overdue: number
  /** Abandoned because the caller disconnected. */
  abandoned: number
}

/** All data of the service, as requests use it. */
export type ServedStorage = {
  /** For transactions, and for look-ups of a few rows by key, which ingestion and sign-in wait for. */
  db: Database
  /**
   * For lists. They are queued fairly by caller and workspace, and end when their caller disconnects.
   * @throws {Unavailable} from every query if too many wait, or it takes longer than some seconds
   */
  lists(reading: Reading): ReadingDatabase
  events: EventStore
  /** Up to where, and in which order, customers can be listed forward now. Call it before reading them. */
  arrivedCustomers(reading: Reading): Promise<Arrived>
  /** The store's clock in milliseconds: what was committed before this time is visible to reads after this call. */
  clock_ms(reading: Reading): Promise<number>
  activity: ReadActivity
  /** Where customers stand in their journeys. */
  standings: Standings
  /** Requests and events that were refused because of their content. */
  refusals: RefusalStore
  removals: RemovalStore
  /**
   * @param workspaceId workspace of the events or customers to write: each workspace has a limited queue
   * @throws {Unavailable} if a look-up or a write would be refused now
   */
  assertAvailable(use: 'read' | 'write', workspaceId?: string): void
  /**
   * Whether all that other servers had changed a second ago was reported (`onOutsideChange`). If not, what is cached may be
   * older. Undefined if no other server can use the store.
   */
  isCurrent?(): boolean
  /** Records the use of a service key; committed together with other writes. */
  noteKeyUse(keyId: string): Promise<void>
  /** Commits a write that changes nothing. @throws {Error} if that fails */
  assertWritable(): Promise<void>
}

/** The same, with what only the process that opened it uses. */
export type Storage = ServedStorage & {
  /** Counts of sign-in attempts, shared by the processes on the store, if there can be several. */
  guesses?: GuessCounts
  statistics(): StorageStatistics
  /** Finishes accepted work and closes. */
  close(): Promise<void>
}
