import { type Kysely, sql, type Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB } from '../../../generated/tables.ts'
import { emailKey } from '../../domain/emails.ts'
import { instantText } from '../../domain/instants.ts'
import { nameWords } from '../../domain/name-words.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import { hasWords, startsWith } from '../lists/prefixes.ts'
import { deleteViewsOf } from './views.ts'
import { workspaceStatus } from './workspaces.ts'

type Member = components['schemas']['Member']
type Membership = components['schemas']['Membership']
type Role = components['schemas']['Role']

/** How many workspaces a session shows (API: `Session.workspaces`). */
const SHOWN_WORKSPACES = 500

/** Makes the person a member; false, without a change, if the person is one already. */
export async function insertMember(
  db: Transaction<DB>,
  member: { workspace_id: string; person_id: string; role: Role; joined_ms: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('members')
    .values(member)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'person_id']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export async function findMember(
  db: Kysely<DB>,
  workspaceId: string,
  personId: string,
): Promise<Member | undefined> {
  const row = await selectMembers(db, workspaceId)
    .where('members.person_id', '=', personId)
    .executeTakeFirst()
  return row && memberOf(row)
}

/**
 * Members by (`joined_at`, `person_id`), newest first. With a search a page ends after a fixed number of members
 * examined.
 * @param filter.search prefixes of words of the name, a prefix of the email, or the whole identifier
 */
export async function newestMembers(
  db: Kysely<DB>,
  workspaceId: string,
  { search }: { search?: string },
  page: Page,
): Promise<PageRows<Member>> {
  const keys = selectMembers(db, workspaceId)
    .clearSelect()
    .select(['members.joined_ms as ms', 'members.person_id as id'])
    .select(bytes({ text: ['people.name', 'people.email'] }))
    .where(behind(page.after, 'members.joined_ms', 'members.person_id'))
    .orderBy('members.joined_ms', 'desc')
    .orderBy('members.person_id', 'desc')
  const read = async (ids: string[]) => {
    const rows = await selectMembers(db, workspaceId).where('members.person_id', 'in', ids).execute()
    return rows.map((row) => [row.person_id, memberOf(row)] as const)
  }
  if (search === undefined) return await readPage(keys, page, read)
  const text = search.trim()
  if (text === '') return { rows: [], next: null }
  const end = await walkEnd(keys)
  const matching = keys
    .where(
      unindexed(sql`${hasWords('people.name_key', nameWords(text))} OR ${startsWith('people.email_key', emailKey(text))}
        OR members.person_id = ${text}`),
    )
    .where(upTo(end, 'members.joined_ms', 'members.person_id'))
  return await readPage(matching, page, read, { end })
}

/** The workspaces of a person, by name. */
export async function membershipsOf(db: Kysely<DB>, personId: string): Promise<Membership[]> {
  const rows = await db
    .selectFrom('members')
    .innerJoin('workspaces', 'workspaces.workspace_id', 'members.workspace_id')
    .select(['members.workspace_id', 'workspaces.name', 'workspaces.archived_ms', 'members.role'])
    .where('members.person_id', '=', personId)
    // In index order, which is order of creation, so that no more rows are read than returned.
    .orderBy('members.workspace_id')
    .limit(SHOWN_WORKSPACES)
    .execute()
  return rows
    .map(({ archived_ms, ...row }) => ({
      ...row,
      role: row.role as Role,
      status: workspaceStatus(archived_ms),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** The role of a person in a workspace; undefined if the person is not a member. */
export async function roleOf(
  db: Kysely<DB>,
  workspaceId: string,
  personId: string,
): Promise<Role | undefined> {
  const row = await db
    .selectFrom('members')
    .select('role')
    .where('workspace_id', '=', workspaceId)
    .where('person_id', '=', personId)
    .executeTakeFirst()
  return row?.role as Role | undefined
}

/**
 * The role of a person in each workspace of the person, next to the role of another person there; null if the other is
 * not a member.
 */
export async function pairedRoles(
  db: Kysely<DB>,
  personId: string,
  otherId: string,
): Promise<{ role: Role; other: Role | null }[]> {
  const rows = await db
    .selectFrom('members')
    .leftJoin('members as others', (join) =>
      join.onRef('others.workspace_id', '=', 'members.workspace_id').on('others.person_id', '=', otherId),
    )
    .select(['members.role', 'others.role as other'])
    .where('members.person_id', '=', personId)
    .execute()
  return rows.map(({ role, other }) => ({ role: role as Role, other: other as Role | null }))
}

export async function countOwners(db: Transaction<DB>, workspaceId: string): Promise<number> {
  const { owners } = await db
    .selectFrom('members')
    .select(({ fn }) => fn.countAll<number>().as('owners'))
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  return Number(owners)
}

export async function updateRole(
  db: Transaction<DB>,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<void> {
  await db
    .updateTable('members')
    .set({ role })
    .where('workspace_id', '=', workspaceId)
    .where('person_id', '=', personId)
    .execute()
}

/** Ends a membership, and with it the person's own views there. */
export async function deleteMember(
  db: Transaction<DB>,
  workspaceId: string,
  personId: string,
): Promise<void> {
  await deleteViewsOf(db, workspaceId, personId)
  await db
    .deleteFrom('members')
    .where('workspace_id', '=', workspaceId)
    .where('person_id', '=', personId)
    .execute()
}

function selectMembers(db: Kysely<DB>, workspaceId: string) {
  return db
    .selectFrom('members')
    .innerJoin('people', 'people.person_id', 'members.person_id')
    .select(['members.person_id', 'people.name', 'people.email', 'members.role', 'members.joined_ms'])
    .where('members.workspace_id', '=', workspaceId)
}

function memberOf({
  joined_ms,
  ...row
}: Omit<Member, 'role' | 'joined_at'> & { role: string; joined_ms: number }): Member {
  return { ...row, role: row.role as Role, joined_at: instantText(joined_ms) }
}
