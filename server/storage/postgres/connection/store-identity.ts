import type { Pool } from './pool.ts'

/**
 * Tells the tables of a store from others that get the name of its database, as after a restore: the numbers of the database
 * and of a table, a text without spaces, empty if there is no such table. A standby has the same. It reads no table: on Citus
 * that would not be possible everywhere.
 */
export const IDENTITY = `concat_ws('.', split_part(pg_relation_filepath(to_regclass('cairn_store')), '/', -2),
  to_regclass('cairn_store')::oid)`

/** The database was replaced while the server ran, so that nothing that was read at the start can be relied on. */
export class StoreReplaced extends Error {
  constructor() {
    super('the database was replaced by another one, as by a restore; start the server again to use that')
    this.name = 'StoreReplaced'
  }
}

/** Returns the identity of the store that is in the database now; '' if there is none. */
export async function readIdentity(pool: Pool): Promise<string> {
  const [store] = await pool.read<{ identity: string }>(`SELECT ${IDENTITY} AS identity`, [])
  return store?.identity ?? ''
}
