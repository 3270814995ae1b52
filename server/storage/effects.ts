import {
  AliasNode,
  type CompiledQuery,
  type OperationNode,
  type QueryResult,
  type RootOperationNode,
  TableNode,
} from 'kysely'
import type { Transaction } from './database.ts'

/**
 * Who else must learn of a change: the cache of service keys in this process, the writer's cache of references (SQLite), and
 * the other replicas (PostgreSQL), which then look up their cached keys again.
 */
export type Effect = 'keys' | 'references' | 'replicas'

/** The tables whose changes have effects. A key says of its workspace whether it protects its customers. */
const EFFECTS = {
  workspaces: ['keys', 'references', 'replicas'],
  service_keys: ['keys', 'replicas'],
  journeys: ['references', 'replicas'],
  customers: ['references'],
  enrolments: ['references'],
  people: ['replicas'],
  members: ['replicas'],
  sessions: ['replicas'],
} as const satisfies Record<string, readonly Effect[]>

export type WatchedTable = keyof typeof EFFECTS

/** The tables of statements that declare what they change. */
const declared = new WeakMap<RootOperationNode, readonly WatchedTable[]>()

/**
 * Runs a statement of a transaction that declares its effects, instead of having them read from its tree: one that is written
 * in SQL and changes rows, or a change that nobody need learn of.
 * @param tables all that it changes of those that have effects
 */
export async function runDeclared<Row>(
  db: Transaction,
  tables: readonly WatchedTable[],
  statement: { compile(db: Transaction): CompiledQuery<Row> },
): Promise<QueryResult<Row>> {
  const compiled = statement.compile(db)
  declared.set(compiled.query, tables)
  return await db.executeQuery(compiled)
}

/**
 * The effects of a statement of a transaction.
 * @returns undefined where it must not change rows: it is a query, or is written in SQL and declares nothing. The engine
 *   says whether that is true.
 */
export function effectsOf(query: RootOperationNode): readonly Effect[] | undefined {
  const tables = declared.get(query) ?? writtenTables(query)
  return tables?.flatMap((table) => EFFECTS[table as WatchedTable] ?? NONE)
}

const NONE: readonly Effect[] = []

/** What a statement that declares nothing is refused with where it changes rows. */
export const UNDECLARED = 'a statement written in SQL changes rows and does not declare of which tables'

function writtenTables(query: RootOperationNode): string[] | undefined {
  switch (query.kind) {
    case 'SelectQueryNode':
    case 'RawNode':
      return undefined
    case 'InsertQueryNode':
      return namesOf(query.into)
    case 'UpdateQueryNode':
      return namesOf(query.table)
    case 'DeleteQueryNode':
      return query.from.froms.flatMap(namesOf)
    default:
      // It changes the schema, in a migration.
      return []
  }
}

function namesOf(node: OperationNode | undefined): string[] {
  if (node && AliasNode.is(node)) return namesOf(node.node)
  if (!node || !TableNode.is(node)) throw new Error('a change of something that is no table')
  return [node.table.identifier.name]
}
