import { CompiledQuery, type ControlledTransaction, type RootOperationNode } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import type { Refused, Sent } from '../storage/refusals/refusals.ts'
import type { Reading, Storage } from '../storage/storage.ts'

/** A query on its way to another thread. */
export type SentQuery = { sql: string; parameters: readonly unknown[]; kind: RootOperationNode['kind'] }

/** The store as other threads call it. Each method is that of `Storage` or of one of its parts. */
export function storeMethods(storage: Storage) {
  const { events, standings, refusals } = storage
  const transactions = new Map<number, ControlledTransaction<DB>>()
  let begun = 0
  const open = (id: number) => {
    const transaction = transactions.get(id)
    if (!transaction) throw new Error('the transaction has ended')
    return transaction
  }
  const ended = (id: number) => {
    const transaction = open(id)
    transactions.delete(id)
    return transaction
  }
  return {
    query: (query: SentQuery) => storage.db.executeQuery(compiled(query)),
    async begin() {
      begun += 1
      const id = begun
      transactions.set(id, await storage.db.startTransaction().execute())
      return id
    },
    queryIn: (id: number, query: SentQuery) => open(id).executeQuery(compiled(query)),
    async commit(id: number) {
      const transaction = ended(id)
      try {
        await transaction.commit().execute()
      } catch (error) {
        // Else it would keep its turn, or its connection. What it tells then says no more.
        await transaction
          .rollback()
          .execute()
          .catch(() => {})
        throw error
      }
    },
    rollback: (id: number) => ended(id).rollback().execute(),
    list: (query: SentQuery, reading: Reading) => storage.lists(reading).executeQuery(compiled(query)),

    initializeCustomer: events.initializeCustomer,
    insertEvents: events.insertEvents,
    checkCustomer: events.checkCustomer,
    checkEvents: events.checkEvents,
    newestEvents: events.newestEvents,
    oldestEvents: events.oldestEvents,
    eventsBound: events.eventsBound,
    eventSlice: events.eventSlice,
    countEvents: events.countEvents,
    oldestReceived: events.oldestReceived,
    customerEvents: events.customerEvents,

    async arrivedEnd(reading: Reading) {
      const { end, caughtUp_ms } = await storage.arrivedCustomers(reading)
      return { end, caughtUp_ms }
    },
    clock_ms: storage.clock_ms,
    activity: storage.activity,

    report: standings.report.bind(standings),
    trend: standings.trend.bind(standings),
    histogram: standings.histogram.bind(standings),
    customers: standings.customers.bind(standings),
    customerJourneys: standings.customerJourneys.bind(standings),

    offerRefusal: (refused: Refused, sent: Sent) => refusals.offer(refused, () => sent),
    listRefusals: refusals.list.bind(refusals),
    summary: refusals.summary.bind(refusals),
    findRefusal: refusals.find.bind(refusals),
    noteReplays: refusals.noteReplays.bind(refusals),

    beginRemovals: storage.removals.begin,
    noteKeyUse: storage.noteKeyUse,
    assertWritable: storage.assertWritable,
  }
}

export type StoreMethods = ReturnType<typeof storeMethods>

/** Dialects look at nothing else of a query than what it is. */
function compiled({ sql, parameters, kind }: SentQuery): CompiledQuery {
  return { ...CompiledQuery.raw(sql, [...parameters]), query: { kind } as RootOperationNode }
}
