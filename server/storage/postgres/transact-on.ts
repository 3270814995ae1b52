import { repeatedOnConflict } from '../in-transaction.ts'
import type { Connection } from './connection/connection.ts'
import { outward } from './connection/outages.ts'
import type { Pool } from './connection/pool.ts'

/**
 * Runs a transaction on a connection of its own; again if it conflicted with another.
 * @param work may run several times
 * @throws {Unavailable} if PostgreSQL failed
 */
export async function transactOn<Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  options?: Parameters<Connection['begin']>[0],
): Promise<Result> {
  const transact = async (connection: Connection) => {
    await connection.begin(options)
    try {
      const result = await work(connection)
      await connection.run('COMMIT')
      return result
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => connection.close())
      throw error
    }
  }
  return await repeatedOnConflict(() => outward(pool.use(transact)))
}
