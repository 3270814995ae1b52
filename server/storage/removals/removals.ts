import type { Kysely, Selectable, Transaction } from 'kysely'
import type { DB, Removals } from '../../../generated/tables.ts'
import { newId } from '../../domain/identifiers.ts'

/** What is being removed: events, those of a customer, of a journey or of a whole workspace, and what goes with them. */
export type Removal = Selectable<Removals> & { kind: RemovalKind }

export type RemovalKind = 'customer' | 'journey' | 'workspace'

/** What one slice has removed. */
export type RemovedSlice = {
  events: number
  /** Whether no event is left that was to go. Others of its workspace may wait for what else is to be done. */
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

/** Of one workspace, what is being removed of a subject. */
export async function removalOf(
  db: Kysely<DB>,
  workspaceId: string,
  { kind, subject_id }: Pick<Removal, 'kind' | 'subject_id'>,
): Promise<Removal | undefined> {
  const row = await db
    .selectFrom('removals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where('subject_id', '=', subject_id)
    .executeTakeFirst()
  return row && { ...row, kind }
}

export async function deleteRemoval(
  db: Transaction<DB>,
  { workspace_id, removal_id }: Pick<Removal, 'workspace_id' | 'removal_id'>,
): Promise<void> {
  await db
    .deleteFrom('removals')
    .where('workspace_id', '=', workspace_id)
    .where('removal_id', '=', removal_id)
    .execute()
}
