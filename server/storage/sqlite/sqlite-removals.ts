import { sql } from 'kysely'
import { indexedBeginning, wordsOfText } from '../../domain/name-words.ts'
import type { RemovalStore } from '../removals/removal-store.ts'
import { insertRemoval } from '../removals/removals.ts'

/**
 * Takes a customer out of the tables in which others look. The number stays in `enrolment_numbers`, for whoever follows
 * them, and in the indexes of its events; it is not given again.
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
  await sql`INSERT INTO enrolment_removals (journey_ref, customer_ref)
    SELECT journey_ref, customer_ref FROM enrolments WHERE customer_ref = ${ref}`.execute(db)
  const removed = await sql`DELETE FROM enrolments WHERE customer_ref = ${ref}`.execute(db)
  await sql`DELETE FROM customers WHERE customer_ref = ${ref}`.execute(db)
  await sql`UPDATE event_indexing SET removed_customer_ref = max(removed_customer_ref, ${ref})`.execute(db)
  const removal_id = await insertRemoval(db, {
    workspace_id,
    kind: 'customer',
    subject_id: customer_id,
    begun_ms,
    place: JSON.stringify({ ref, from: 0, own }),
  })
  return { removal_id, enrolments: Number(removed.numAffectedRows ?? 0) }
}
