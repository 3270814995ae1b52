import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely'
import type { DB } from '../../generated/tables.ts'
import type { Engine } from '../storage/engine.ts'
import type { Database, ReadingDatabase, ServedStorage } from '../storage/storage.ts'
import type { Calls } from './calls.ts'
import type { SentQuery, StoreMethods } from './store-methods.ts'

type StoreCalls = Pick<Calls<StoreMethods>, 'ask' | 'read' | 'tell' | 'flush'>

/**
 * The store of a thread that serves HTTP: all of it is called in the main thread, which has it open. There what many threads
 * send waits in one line and is committed together, and lists take turns, whichever thread their callers have come to.
 */
export function threadStore(calls: StoreCalls, engine: Engine): ServedStorage {
  return {
    db: database(engine, new ThreadDriver(calls, (query) => calls.ask('query', query))) as Database,
    lists: (reading) =>
      database(
        engine,
        new ThreadDriver(calls, (query) => calls.read('list', reading, query)),
      ) as ReadingDatabase,
    events: {
      initializeCustomer: (...args) => calls.ask('initializeCustomer', ...args),
      insertEvents: (...args) => calls.ask('insertEvents', ...args),
      checkCustomer: (...args) => calls.ask('checkCustomer', ...args),
      checkEvents: (...args) => calls.ask('checkEvents', ...args),
      newestEvents: (id, filter, page, reading) => calls.read('newestEvents', reading, id, filter, page),
      oldestEvents: (id, filter, page, reading) => calls.read('oldestEvents', reading, id, filter, page),
      eventsBound: (id, reading) => calls.read('eventsBound', reading, id),
      eventSlice: (request, reading) => calls.read('eventSlice', reading, request),
      countEvents: (id, filter, reading) => calls.read('countEvents', reading, id, filter),
      oldestReceived: (id, filter, reading) => calls.read('oldestReceived', reading, id, filter),
      customerEvents: (id, customer, page, reading) =>
        calls.read('customerEvents', reading, id, customer, page),
    },
    async arrivedCustomers(reading) {
      const arrived = await calls.read('arrivedEnd', reading)
      return { ...arrived, places: engine.arrivedPlaces(reading.workspaceId, arrived.end) }
    },
    clock_ms: (reading) => calls.read('clock_ms', reading),
    activity: (id, request, reading) => calls.read('activity', reading, id, request),
    standings: {
      report: (id, journey, filter, reading) => calls.read('report', reading, id, journey, filter),
      trend: (id, journey, filter, reading) => calls.read('trend', reading, id, journey, filter),
      histogram: (id, journey, filter, reading) => calls.read('histogram', reading, id, journey, filter),
      customers: (id, journey, filter, page, reading) =>
        calls.read('customers', reading, id, journey, filter, page),
      customerJourneys: (id, customer, page, reading) =>
        calls.read('customerJourneys', reading, id, customer, page),
    },
    refusals: {
      offer(refused, sent) {
        calls.tell('offerRefusal', refused, sent())
        // Before the sender has its answer, and asks another thread for it; those of a batch together.
        queueMicrotask(() => calls.flush())
      },
      list: (id, filter, page, reading) => calls.read('listRefusals', reading, id, filter, page),
      summary: (id, filter, periods, reading) => calls.read('summary', reading, id, filter, periods),
      find: (id, refusal, reading) => calls.read('findRefusal', reading, id, refusal),
      noteReplays: (...args) => calls.ask('noteReplays', ...args),
    },
    removals: { ...engine.removals, begin: () => calls.tell('beginRemovals') },
    // Known where it waits: there what is sent is refused.
    assertAvailable() {},
    noteKeyUse: (keyId) => calls.ask('noteKeyUse', keyId),
    assertWritable: () => calls.ask('assertWritable'),
  }
}

function database({ dialect }: Engine, driver: Driver): Kysely<DB> {
  const here: Dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
  return new Kysely<DB>({ dialect: here })
}

type Run = (query: SentQuery) => Promise<QueryResult<unknown>>

class ThreadDriver implements Driver {
  readonly #calls: StoreCalls
  readonly #run: Run

  /** @param run what is in no transaction */
  constructor(calls: StoreCalls, run: Run) {
    this.#calls = calls
    this.#run = run
  }

  async init() {}

  async acquireConnection() {
    return new ThreadConnection(this.#calls, this.#run)
  }

  async beginTransaction(connection: ThreadConnection) {
    await connection.begin()
  }

  async commitTransaction(connection: ThreadConnection) {
    await connection.end('commit')
  }

  async rollbackTransaction(connection: ThreadConnection) {
    await connection.end('rollback')
  }

  async releaseConnection() {}

  async destroy() {}
}

class ThreadConnection implements DatabaseConnection {
  readonly #calls: StoreCalls
  readonly #run: Run
  #transaction: number | undefined

  constructor(calls: StoreCalls, run: Run) {
    this.#calls = calls
    this.#run = run
  }

  async begin() {
    this.#transaction = await this.#calls.ask('begin')
  }

  async end(how: 'commit' | 'rollback') {
    const transaction = this.#transaction
    this.#transaction = undefined
    // Kysely rolls back after a COMMIT that failed; the main thread has done so.
    if (transaction !== undefined) await this.#calls.ask(how, transaction)
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const sent = { sql, parameters, kind: query.kind }
    const transaction = this.#transaction
    const result = transaction === undefined ? this.#run(sent) : this.#calls.ask('queryIn', transaction, sent)
    return (await result) as QueryResult<Row>
  }

  // biome-ignore lint/correctness/useYield: Kysely wants a generator; a page at a time is read instead
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('Streaming is not supported; read page by page.')
  }
}
