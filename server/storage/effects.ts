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
 * What must be notified of a change: `keys`, the cache of service keys in this process; `references`, the writer's cache of
 * references (SQLite); `replicas`, the other servers (PostgreSQL), which then look up their cached keys again.
 */
export type Effect = 'keys' | 'references' | 'replicas'

/** The effects of a change, per table. `workspaces` affects keys, because a cached key includes its customer protection. */
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
 * Runs a statement of a transaction with declared effects, instead of deriving them from its syntax tree: for statements
 * written in SQL that change rows, and for changes that need no notification.
 * @param tables all tables with effects that it changes
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
 * Returns the effects of a statement of a transaction.
 * @returns undefined if the statement must not change rows: it is a query, or is written in SQL and declares nothing. The
 *   engine checks that it does not.
 */
export function effectsOf(query: RootOperationNode): readonly Effect[] | undefined {
  const tables = declared.get(query) ?? writtenTables(query)
  return tables?.flatMap((table) => EFFECTS[table as WatchedTable] ?? NONE)
}

const NONE: readonly Effect[] = []

/** The error for a statement that changes rows and declares nothing. */
export const UNDECLARED = 'a statement written in SQL changes rows but does not declare the tables'

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
      // Schema changes, in migrations.
      return []
  }
}

function namesOf(node: OperationNode | undefined): string[] {
  if (node && AliasNode.is(node)) return namesOf(node.node)
  if (!node || !TableNode.is(node)) throw new Error('a change of something other than a table')
  return [node.table.identifier.name]
}
