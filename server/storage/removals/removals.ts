import type { Kysely, Selectable, Transaction } from 'kysely'
import type { DB, Removals } from '../../../generated/tables.ts'
import { newId } from '../../domain/identifiers.ts'

/**
 * A removal in progress: of events, those of a customer, of a journey or of a whole workspace, and what belongs to
 * them.
 */
export type Removal = Selectable<Removals> & { kind: RemovalKind }

type RemovalKind = 'customer' | 'journey' | 'workspace'

/** Returns a customer's own names, kept until everything is removed: its refusals are found by them. */
export function ownNames({ subject_id, place }: Pick<Removal, 'subject_id' | 'place'>) {
  const { own }: { own?: { customer_type: string; client_customer_id: string } } = JSON.parse(place)
  return own && { customer_id: subject_id, ...own }
}

/** Removes these names when nothing else needs them. */
export async function forgetOwnNames(db: Transaction<DB>, removal: Removal): Promise<void> {
  const { workspace_id, removal_id } = removal
  const named = { workspace_id, removal_id }
  const row = await db
    .selectFrom('removals')
    .select('place')
    .where((eb) => eb.and(named))
    .executeTakeFirst()
  const { own: _, ...rest }: { own?: unknown } = JSON.parse(row?.place ?? '{}')
  await db
    .updateTable('removals')
    .set({ place: JSON.stringify(rest) })
    .where((eb) => eb.and(named))
    .execute()
}

/** The result of one slice. */
export type RemovedSlice = {
  /** Number of events, or enrolments. */
  rows: number
  /** Whether no more are left. Others of its workspace may still wait for further steps. */
  isDone: boolean
}

/**
 * Records a removal, in the transaction that keeps anyone from adding data. It is processed in slices behind the
 * writes, and continues after a restart.
 * @param removal.place the engine's initial progress
 * @returns the removal_id
 */
export async function insertRemoval(
  db: Transaction<DB>,
  removal: Pick<Removal, 'workspace_id' | 'kind' | 'subject_id' | 'begun_ms'> &
    Partial<Pick<Removal, 'before_ms' | 'place'>>,
): Promise<string> {
  const removal_id = newId('rmv')
  await db
    .insertInto('removals')
    .values({ before_ms: null, place: '', events: 0, ...removal, removal_id })
    .execute()
  return removal_id
}

/** Returns all removals, oldest first. */
export async function removals(db: Kysely<DB>): Promise<Removal[]> {
  const rows = await db.selectFrom('removals').selectAll().orderBy('begun_ms').orderBy('removal_id').execute()
  return rows.map((row) => ({ ...row, kind: row.kind as RemovalKind }))
}

/** @returns the removal as it was; undefined if it no longer exists */
export async function deleteRemoval(
  db: Transaction<DB>,
  { workspace_id, removal_id, kind }: Pick<Removal, 'workspace_id' | 'removal_id' | 'kind'>,
): Promise<Removal | undefined> {
  const row = await db
    .deleteFrom('removals')
    .where('workspace_id', '=', workspace_id)
    .where('removal_id', '=', removal_id)
    .returningAll()
    .executeTakeFirst()
  return row && { ...row, kind }
}

/**
 * Does work for each item, one after the other: one that fails does not hold back the others.
 * @throws the first error, in the end
 */
export async function eachByItself<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  for (const item of items) await work(item).catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
