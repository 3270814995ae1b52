import { UNFINISHED_COPY, unfinishedCopy } from '../../transfer/unfinished-copy.ts'
import type { Pool } from '../connection/pool.ts'

/** Whether a copy into the database was started and is unfinished. */
export async function isBeingCopied(pool: Pool): Promise<boolean> {
  const [row] = await pool.read<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
    UNFINISHED_COPY,
  ])
  return row?.found !== null
}

/** @throws {Error} with a message for the operator if the database is an unfinished copy */
export async function assertWhole(pool: Pool): Promise<void> {
  if (!(await isBeingCopied(pool))) return
  throw unfinishedCopy('the database')
}
