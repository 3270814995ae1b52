// engines: none (a driver that answers with one erasure)

import { setImmediate as nextRound } from 'node:timers/promises'
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { expect, it } from 'vitest'
import type { DB } from '../../generated/tables.ts'
import { ownDigest } from '../../server/domain/own-digest.ts'
import { erasedNames } from '../../server/storage/removals/erasures.ts'

const erasure_secret = 'ab'.repeat(32)
const workspace = { erasures: 1, erasure_secret }
const erasure = {
  customer_id: 'cus_01jd3zd8k2fn7w4t6r9v3y5qbc',
  own_digest: ownDigest(erasure_secret, { customer_type: 'contact', client_customer_id: 'bob' }),
}

/** A store with one erasure, and the statements sent to it. */
function storeOfOne() {
  const statements: CompiledQuery[] = []
  class Driver extends DummyDriver {
    override async acquireConnection() {
      return {
        async executeQuery<Row>(query: CompiledQuery) {
          statements.push(query)
          const isOfWorkspace = query.sql.includes('from "workspaces"')
          const { customer_id, own_digest } = erasure
          const isFound = query.parameters.includes(customer_id) || query.parameters.includes(own_digest)
          const rows = isOfWorkspace ? [workspace] : isFound ? [erasure] : []
          return { rows: rows as Row[] }
        },
        async *streamQuery() {},
      }
    }
  }
  const db = new Kysely<DB>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  return { db, statements }
}

it('erased names are found among tens of thousands of texts with few statements, each within the engines’ limits', async () => {
  const { db, statements } = storeOfOne()
  const names = await erasedNames(db, 'wsp_1')
  const texts = new Set(Array.from({ length: 36_000 }, (_, index) => `text-${index}`)).add('bob')
  const finding = names?.among(texts)
  let rounds = 0
  while ((await Promise.race([finding, nextRound('searching' as const)])) === 'searching') rounds += 1
  expect(await finding).toEqual(new Set(['bob']))
  // Yields to other work after every 125 texts.
  expect(rounds).toBeGreaterThan(250)
  expect(await names?.among(new Set([erasure.customer_id, 'alice']))).toEqual(new Set([erasure.customer_id]))
  expect(await names?.among(new Set())).toEqual(new Set())
  expect(statements.length).toBeLessThan(80)
  // SQLite allows 32,766 parameters.
  expect(Math.max(...statements.map(({ parameters }) => parameters.length))).toBeLessThanOrEqual(1_501)
})
