import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { RefusalTable, RefusalTables } from '../../server/storage/refusals/refusal-table.ts'
import type { ErasedNames, Refused } from '../../server/storage/refusals/refusal-writer.ts'
import { Refusals } from '../../server/storage/refusals/refusals.ts'

/** Returns refusals over a table that stores nothing and takes no time, so that only their own work is measured. */
export function refusalsToNowhere(
  options: { run?: () => Promise<void>; erasedNames?: () => Promise<ErasedNames | undefined> } = {},
) {
  const { run = async () => {}, erasedNames = async () => undefined } = options
  /** The rows that were to be written. */
  const written: unknown[] = []
  const db = new Kysely<RefusalTables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  const table: RefusalTable = {
    compiler: db,
    lists: () => db,
    async run(statements) {
      written.push(...statements.flatMap(({ parameters }) => parameters))
      await run()
      return statements.map(() => [])
    },
    mayHaveRows: () => false,
    truncateLog: async () => true,
    close: async () => {},
  }
  const refusals = new Refusals({
    table,
    limits: { days: 7, bytes: 1e9, rows: 1e6 },
    now: Date.now,
    erasedNames,
    onFailure(error) {
      throw error
    },
  })
  return { refusals, written }
}

export function refusedItem(item: number, change: Partial<Refused> = {}): Refused {
  return {
    workspace_id: 'wsp_of_a_test',
    key_id: 'key_a',
    request_id: 'request-1',
    operation: 'createEvents',
    received_ms: Date.now(),
    item,
    journey_id: null,
    customer_id: null,
    event_id: 'signed_up',
    code: 'journey_not_found',
    status: 404,
    ...change,
  }
}

/** Returns an event of 1 KB that takes long to redact. */
export function hostileEvent(): Uint8Array {
  return Buffer.from(JSON.stringify({ event_id: 'signed_up', custom_variables: `pass${'"'.repeat(450)}` }))
}
