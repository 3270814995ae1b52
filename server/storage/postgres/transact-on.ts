import { repeatedOnConflict } from '../in-transaction.ts'
import type { Connection } from './connection/connection.ts'
import { outward } from './connection/outages.ts'
import type { Pool } from './connection/pool.ts'

type TransactionOptions = Parameters<Connection['begin']>[0]

/** Runs a transaction on a connection, which is closed if it cannot even be rolled back. */
export async function transact<Result>(
  connection: Connection,
  work: () => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  try {
    await connection.begin(options)
    const result = await work()
    await connection.run('COMMIT')
    return result
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => connection.close())
    throw error
  }
}

/**
 * Runs a transaction on a connection of its own; again if it conflicted with another.
 * @param work may run several times
 * @throws {Unavailable} if PostgreSQL failed
 */
export async function transactOn<Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  const once = () => pool.use((connection) => transact(connection, () => work(connection), options))
  return await repeatedOnConflict(() => outward(once()))
}
