import { type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import type { Position } from '../../domain/cursors.ts'
import { indexedBeginning, nameWords } from '../../domain/name-words.ts'
import { bytes, WALKED_ROWS } from '../lists/page-query.ts'
import { hasWords, startsWith } from '../lists/prefixes.ts'

/** A search for customers: its text, and its words, longest first, because long words match the fewest customers. */
export type Search = { text: string; words: string[] }

/** Customers' positions in the list. */
type Positions = SelectQueryBuilder<DB, 'customers' | 'customer_words', Position>

/** Customers found by indexes, possibly with duplicates: all that match, and if `isExact` no others. */
export type Found = { positions: Positions; isExact: boolean }

/** Limit of customers found by an index that are sorted, or examined one by one. Walking the list costs as much. */
const MOST = WALKED_ROWS

/** For how many words of a search the index is asked how many customers match. */
const COUNTED_WORDS = 4

/** The unique index of the application's identifiers begins with the type: naming all types makes it usable. */
const TYPES = ['account', 'contact'] as const

export function searchOf(text: string): Search {
  return { text, words: nameWords(text).sort((a, b) => b.length - a.length) }
}

/**
 * Customers with the text as an identifier, Cairn's or the application's: three at most, highest `customer_id` first.
 */
export async function identifiedCustomers(db: Kysely<DB>, workspaceId: string, { text }: Search) {
  const customers = db
    .selectFrom('customers')
    .select(['customer_id as id', 'customer_type', 'client_customer_id'])
    .select(bytes({ text: ['client_customer_id', 'customer_name'] }))
    .where('workspace_id', '=', workspaceId)
  const found = await Promise.all([
    customers.where('customer_id', '=', text).execute(),
    customers.where('customer_type', 'in', TYPES).where('client_customer_id', '=', text).execute(),
  ])
  const each = new Map(found.flat().map((customer) => [customer.id, customer]))
  return [...each.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
}

/** Customers with this identifier from the application: at most one of each type. */
export function ownIdentifier(db: Kysely<DB>, workspaceId: string, client_customer_id: string): Positions {
  return ownIdentifiers(db, workspaceId).where('client_customer_id', '=', client_customer_id)
}

/**
 * Customers that match a search; with several words, or if there are other conditions, also customers that match only
 * partly. Undefined if there are too many.
 * @param options.isAlone whether the search is the only condition
 */
export async function searched(
  db: Kysely<DB>,
  workspaceId: string,
  search: Search,
  { isAlone }: { isAlone: boolean },
): Promise<Found | undefined> {
  const { words } = search
  const isExact = isAlone && words.length < 2 && words.every((word) => indexedBeginning(word) === word)
  const byIdentifier = ownIdentifiers(db, workspaceId).where(identifierBegins(search))
  const byWord = words.slice(0, COUNTED_WORDS).map((word) => wordBegins(db, workspaceId, word))
  const [identifiers = 0, ...counts] = await Promise.all([
    countOf(db, byIdentifier),
    ...byWord.map((positions) => countOf(db, positions)),
  ])
  const least = Math.min(...counts)
  const rarest = byWord[counts.indexOf(least)]
  if (identifiers > MOST || (rarest && least > MOST)) return undefined
  return { positions: rarest ? byIdentifier.unionAll(rarest) : byIdentifier, isExact }
}

/** The condition of a search on a customer. */
export function matches(search: Search): RawBuilder<SqlBool> {
  return sql`(${hasWords('name_key', search.words)} OR ${identifierBegins(search)})`
}

function identifierBegins({ text }: Search) {
  return startsWith('client_customer_id', text)
}

function ownIdentifiers(db: Kysely<DB>, workspaceId: string): Positions {
  const customers: SelectQueryBuilder<DB, 'customers' | 'customer_words', object> = db.selectFrom('customers')
  return customers
    .select(['customers.created_ms as ms', 'customers.customer_id as id'])
    .where('customers.workspace_id', '=', workspaceId)
    .where('customer_type', 'in', TYPES)
}

function wordBegins(db: Kysely<DB>, workspaceId: string, word: string): Positions {
  return db
    .selectFrom('customer_words')
    .select(['created_ms as ms', 'customer_id as id'])
    .where('workspace_id', '=', workspaceId)
    .where(startsWith('word', indexedBeginning(word)))
}

/** The number of customers, counted up to one more than the limit. */
async function countOf(db: Kysely<DB>, positions: Positions): Promise<number> {
  const some = positions
    .clearSelect()
    .select(sql`1`.as('one'))
    .limit(MOST + 1)
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
