import { sql } from 'kysely'
import { indexedBeginning, wordsOfText } from '../../../domain/name-words.ts'
import type { Database, ReadingDatabase, Transaction } from '../../database.ts'
import { runDeclared } from '../../effects.ts'
import type { RemovalStore } from '../../removals/removal-store.ts'
import { insertRemoval, type Removal } from '../../removals/removals.ts'
import { lastCustomerRef, skipCustomerRefs } from '../customer-refs.ts'

/**
 * Deletes a customer from the tables that others read. The row number stays in `enrolment_numbers`, for followers, and
 * in the indexes of the customer's events; it is not reused.
 */
export const removeCustomer: RemovalStore['removeCustomer'] = async (
  db,
  { workspace_id, customer_id, begun_ms },
) => {
  const customers = db.selectFrom('customers').where('workspace_id', '=', workspace_id)
  const known = await customers
    .select([
      'created_ms',
      'name_key',
      'customer_type',
      'client_customer_id',
      sql<number>`customer_ref`.as('ref'),
    ])
    .where('customer_id', '=', customer_id)
    .executeTakeFirst()
  if (!known) return undefined
  const { ref, created_ms, name_key, ...own } = known
  const words = [...new Set(wordsOfText(name_key).map(indexedBeginning))]
  if (words.length > 0) {
    await db
      .deleteFrom('customer_words')
      .where('workspace_id', '=', workspace_id)
      .where('word', 'in', words)
      .where('created_ms', '=', created_ms)
      .where('customer_id', '=', customer_id)
      .execute()
  }
  const noted = sql`INSERT INTO enrolment_removals (journey_ref, customer_ref)
    SELECT journey_ref, customer_ref FROM enrolments WHERE customer_ref = ${ref}`
  await runDeclared(db, [], noted)
  const left = sql`DELETE FROM enrolments WHERE customer_ref = ${ref}`
  const removed = await runDeclared(db, ['enrolments'], left)
  await runDeclared(db, ['customers'], sql`DELETE FROM customers WHERE customer_ref = ${ref}`)
  await skipCustomerRefs(db, ref)
  const removal_id = await insertRemoval(db, {
    workspace_id,
    kind: 'customer',
    subject_id: customer_id,
    begun_ms,
    place: JSON.stringify({ ref, from: 0, own }),
  })
  return { removal_id, enrolments: Number(removed.numAffectedRows ?? 0) }
}

/** Hides a journey. Its number stays taken, so that no other journey gets it while events and indexes refer to it. */
export const removeJourney: RemovalStore['removeJourney'] = async (
  db,
  { workspace_id, journey_id, begun_ms },
) => {
  const ref = await journeyRef(db, { workspace_id, journey_id })
  const hidden = sql`UPDATE journeys SET removed_ms = ${begun_ms} WHERE journey_ref = ${ref}`
  await runDeclared(db, ['journeys'], hidden)
  const place = JSON.stringify({ ref, from: 0 })
  const subject = { workspace_id, kind: 'journey', subject_id: journey_id, begun_ms, place } as const
  await insertRemoval(db, subject)
}

export const countEnrolments: RemovalStore['countEnrolments'] = async (db, journey) => {
  const ref = await journeyRef(db, journey)
  const { rows } = await sql<{ enrolments: number }>`
    SELECT count(*) AS enrolments FROM enrolments WHERE journey_ref = ${ref}`.execute(db)
  return rows[0]?.enrolments ?? 0
}

/** Deletes a journey's names from the counts, and lets followers of the store drop it. */
export async function forgetJourney(
  db: Transaction,
  { workspace_id, subject_id: journey_id }: Pick<Removal, 'workspace_id' | 'subject_id'>,
): Promise<void> {
  const ref = await journeyRef(db, { workspace_id, journey_id })
  const unnamed = sql`UPDATE event_series SET journey_id = '', event_id = ''
    WHERE workspace_ref = (SELECT workspace_ref FROM workspaces WHERE workspace_id = ${workspace_id})
      AND journey_id = ${journey_id}`
  await runDeclared(db, [], unnamed)
  await runDeclared(db, [], sql`INSERT INTO enrolment_removals (journey_ref) VALUES (${ref})`)
}

/** Removes customers, whose numbers are not reused, and the SQLite-only tables of a workspace. */
export async function removeOwn(db: Transaction, workspaceId: string, rows: number): Promise<boolean> {
  const { rows: found } = await sql<{ ref: number }>`
    SELECT workspace_ref AS ref FROM workspaces WHERE workspace_id = ${workspaceId}`.execute(db)
  const ref = found[0]?.ref
  await skipCustomerRefs(db, await lastCustomerRef(db))
  const some = sql`DELETE FROM customers WHERE customer_ref IN (
    SELECT customer_ref FROM customers WHERE workspace_id = ${workspaceId} LIMIT ${sql.lit(rows)})`
  const customers = await runDeclared(db, ['customers'], some)
  if ((customers.numAffectedRows ?? 0n) > 0n) return false
  for (const [table, key] of OWN) {
    const columns = sql.join(key.map((column) => sql.ref(column)))
    const some = sql`
      DELETE FROM ${sql.table(table)} WHERE (${columns}) IN (
        SELECT ${columns} FROM ${sql.table(table)} WHERE workspace_ref = ${ref} LIMIT ${sql.lit(rows)}
      )`
    const { numAffectedRows = 0n } = await runDeclared(db, [], some)
    if (numAffectedRows > 0n) return false
  }
  const keys = sql`DELETE FROM event_keys WHERE key_id NOT IN (SELECT key_id FROM service_keys)`
  await runDeclared(db, [], keys)
  return true
}

const OWN = [
  ['event_series', ['workspace_ref', 'block', 'number']],
  ['event_counts', ['workspace_ref', 'period', 'start_ms']],
  ['event_counts_open', ['workspace_ref']],
] as const

async function journeyRef(
  db: Database | ReadingDatabase,
  { workspace_id, journey_id }: { workspace_id: string; journey_id: string },
): Promise<number> {
  const { rows } = await sql<{ ref: number }>`
    SELECT journey_ref AS ref FROM journeys
    WHERE workspace_id = ${workspace_id} AND journey_id = ${journey_id}`.execute(db)
  if (!rows[0]) throw new Error('there is no such journey')
  return rows[0].ref
}
