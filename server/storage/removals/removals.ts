import type { Kysely, Selectable, Transaction } from 'kysely'
import type { DB, Removals } from '../../../generated/tables.ts'
import { newId } from '../../domain/identifiers.ts'

/** What is being removed: events, those of a customer, of a journey or of a whole workspace, and what goes with them. */
export type Removal = Selectable<Removals> & { kind: RemovalKind }

export type RemovalKind = 'customer' | 'journey' | 'workspace'

/** What a removal has of a customer until all is gone: what was refused of it is known by that. */
export function ownNames({ subject_id, place }: Pick<Removal, 'subject_id' | 'place'>) {
  const { own }: { own?: { customer_type: string; client_customer_id: string } } = JSON.parse(place)
  return own && { customer_id: subject_id, ...own }
}

/** Takes these names out, when nothing else has them. */
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

/** What one slice has removed. */
export type RemovedSlice = {
  /** How many events, or enrolments. */
  rows: number
  /** Whether neither is left that was to go. Others of its workspace may wait for what else is to be done. */
  isDone: boolean
}

/**
 * Notes that something is to be removed, in the transaction that lets nobody add to it any more. It goes in slices behind
 * the writes, and on after a restart.
 * @param removal.place where the engine begins
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

/** All that is being removed, in the order in which it was begun. */
export async function removals(db: Kysely<DB>): Promise<Removal[]> {
  const rows = await db.selectFrom('removals').selectAll().orderBy('begun_ms').orderBy('removal_id').execute()
  return rows.map((row) => ({ ...row, kind: row.kind as RemovalKind }))
}

/** @returns it as it was; undefined where it is not there any more */
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
