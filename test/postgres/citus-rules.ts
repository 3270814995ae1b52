import { Client } from 'pg'
import { isNode, nodesOf, type ParseNode, type ParseValue, parseTree } from './parse-tree.ts'

/**
 * The rules of Citus for statements that PostgreSQL itself accepts, as its version 13 words its refusals. They are
 * checked on PostgreSQL's own parse trees, without Citus.
 */

/** What a statement does to tables. */
export type Analysis = {
  /** The rules that it breaks. */
  faults: string[]
  /** Whether it reads distributed tables of more than one workspace. */
  readsAll: boolean
  /** Whether it changes a table that is on every node. */
  changesEverywhere: boolean
  /** Whether it changes one that refers to others or that others refer to: Citus locks them too, in an order of its own. */
  changesRelated: boolean
}

type Tables = {
  /** By object identifier: the number of the column `workspace_id` of distributed tables. */
  distributed: Map<string, string>
  everywhere: Set<string>
  /** Those among them with foreign keys, or with others' to them. */
  related: Set<string>
  volatile: Set<string>
}

/**
 * Returns the rules that a definition of a table breaks.
 * @param everywhere the names of the tables that are on every node
 */
export function definitionFaults(statement: string, everywhere: readonly string[]): string[] {
  const text = statement.replace(/--.*$/gm, '')
  const faults: string[] = []
  if (/\bADD COLUMN\b[^;]*\b(CHECK|REFERENCES|UNIQUE|PRIMARY KEY)\b/i.test(text))
    faults.push('a column is added with a constraint')
  const [, table] = /^\s*CREATE TABLE (\w+)/i.exec(text) ?? []
  const referred = [...text.matchAll(/\bREFERENCES (\w+)/gi)].map(([, name = '']) =>
    everywhere.includes(name),
  )
  const isDistributed = table !== undefined && !everywhere.includes(table)
  if (isDistributed && referred.includes(true) && referred.includes(false))
    faults.push('a new table refers to one on every node and to a distributed one')
  return faults
}

/** Analyses statements in a database that has the tables, without running them. */
export class StatementAnalyst {
  readonly #client: Client
  #tables: Tables | undefined
  #trees: string[] = []

  /** @param url of the database */
  constructor(url: string) {
    this.#client = new Client({ connectionString: url })
    this.#client.on('notice', ({ message, detail }) => {
      if (message?.startsWith('parse tree')) this.#trees.push(detail ?? '')
    })
  }

  /** @param everywhere the names of the tables that are on every node */
  async open(everywhere: readonly string[]): Promise<void> {
    await this.#client.connect()
    const { rows } = await this.#client.query<{ oid: string; name: string; column: string | null }>(
      `SELECT pg_class.oid::text AS oid, relname AS name, attnum::text AS column
      FROM pg_class LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'workspace_id'
      WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'kysely%'`,
    )
    const functions = await this.#client.query<{ oid: string }>(
      "SELECT oid::text AS oid FROM pg_proc WHERE provolatile = 'v'",
    )
    const keys = await this.#client.query<{ oid: string }>(
      `SELECT unnest(ARRAY[conrelid, confrelid])::text AS oid FROM pg_constraint
      WHERE contype = 'f' AND conrelid <> confrelid`,
    )
    const related = new Set(keys.rows.map(({ oid }) => oid))
    const isEverywhere = ({ name }: { name: string }) => everywhere.includes(name)
    this.#tables = {
      distributed: new Map(
        rows.filter((row) => !isEverywhere(row)).map((row) => [row.oid, row.column ?? '']),
      ),
      everywhere: new Set(rows.filter(isEverywhere).map(({ oid }) => oid)),
      related: new Set(rows.filter((row) => isEverywhere(row) && related.has(row.oid)).map(({ oid }) => oid)),
      volatile: new Set(functions.rows.map(({ oid }) => oid)),
    }
    await this.#client.query(
      'SET client_min_messages = log; SET debug_print_parse = on; SET debug_pretty_print = off',
    )
  }

  /** @returns undefined for a statement that is not about tables of the store */
  async analyse(statement: string): Promise<Analysis | undefined> {
    if (!this.#tables || !/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(statement)) return undefined
    if (OF_CITUS.test(statement)) return undefined
    this.#trees = []
    try {
      await this.#client.query(`PREPARE analysed AS ${statement}`)
      await this.#client.query('DEALLOCATE analysed')
    } catch (error) {
      if ((error as { code?: string }).code === UNDEFINED_TABLE) return undefined
      throw new Error(`cannot analyse ${statement}`, { cause: error })
    }
    const found = this.#trees
      .map((tree) => parseTree(tree))
      .flatMap((tree) => [...nodesOf(tree, () => true)])
      .filter((node) => node.type === 'QUERY' && node.fields.commandType !== UTILITY)
    const [query] = found
    return query && analysis(query, this.#tables)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}

/** Asks the nodes by a function of Citus, which this database does not have. */
const OF_CITUS = /\brun_command_on_workers\(/

const UNDEFINED_TABLE = '42P01'

/** PostgreSQL's numbers (src/include/nodes/nodes.h, parsenodes.h). */
const [SELECT, UPDATE, INSERT, DELETE, UTILITY] = ['1', '2', '3', '4', '6']
const [RELATION, SUBQUERY] = ['0', '1']
const EXPRESSION = '4'

function analysis(top: ParseNode, tables: Tables): Analysis {
  const nodes = [...nodesOf(top, () => true)]
  const queries = nodes.filter(({ type }) => type === 'QUERY')
  // PostgreSQL joins the others; Citus reads these by themselves, at another moment, unless their own condition names the shard.
  const alone = new Set(
    nodes
      .filter(({ type, fields }) => type === 'SUBLINK' && fields.subLinkType === EXPRESSION)
      .map(({ fields }) => fields.subselect),
  )
  const faults = new Set<string>()
  let readsAll = false
  let changesEverywhere = false
  let changesRelated = false
  for (const query of queries) {
    const { commandType, targetList, jointree } = query.fields
    const relations = relationsOf(query)
    const target = relations.get(Number(query.fields.resultRelation))
    const inTree = new Set(
      [...nodesOf(query, () => true)].flatMap(({ fields }) => String(fields.relid ?? '')),
    )
    if (commandType === SELECT && isEmpty(targetList)) faults.add('a query without columns')
    if (nodesHere(query).some(({ type, fields }) => type === 'VAR' && fields.varattno === '0'))
      faults.add('a whole row')
    if (commandType === UPDATE || commandType === DELETE) {
      const isVolatile = [targetList, jointree].some((part) =>
        [...nodesOf(part ?? '', ({ type }) => type !== 'QUERY')].some(({ fields }) =>
          [fields.funcid, fields.opfuncid].some((id) => tables.volatile.has(String(id))),
        ),
      )
      if (isVolatile) faults.add('a volatile function in an UPDATE or DELETE')
      if (commandType === UPDATE && target && sets(targetList, tables.distributed.get(target)))
        faults.add('the workspace of a row is set')
      if (target && tables.everywhere.has(target) && [...inTree].some((id) => tables.distributed.has(id)))
        faults.add('a table on every node is changed from a distributed one')
    }
    if (target && tables.everywhere.has(target)) changesEverywhere = true
    if (target && tables.related.has(target)) changesRelated = true
    const isOfOne = (isOuterKnown: boolean) =>
      areOfOneWorkspace(
        query,
        relations,
        (value) => workspaceOf(value, relations, tables, isOuterKnown),
        tables,
      )
    if (!isOfOne(true)) readsAll = true
    else if (top.fields.commandType === SELECT && alone.has(query) && !isOfOne(false))
      faults.add('a subquery takes its workspace from the query around it')
  }
  return { faults: [...faults], readsAll, changesEverywhere, changesRelated }
}

/** Whether an UPDATE sets a column to anything other than itself. */
function sets(targetList: ParseValue | undefined, column: string | undefined): boolean {
  const entries = Array.isArray(targetList) ? targetList.filter((entry) => isNode(entry)) : []
  return entries.some(({ fields }) => {
    const { expr, resjunk, resno } = fields
    const isItself = isNode(expr) && expr.type === 'VAR' && expr.fields.varattno === column
    return resjunk === 'false' && resno === column && !isItself
  })
}

/** Whether each distributed table of a query, apart from one that it inserts into, is compared with one workspace. */
function areOfOneWorkspace(
  query: ParseNode,
  relations: Map<number, string>,
  workspaceOf: (value: ParseValue) => number | true | undefined,
  tables: Tables,
): boolean {
  const isInsert = query.fields.commandType === INSERT
  const same = new Map<number, Set<number>>()
  const bound = new Set<number>()
  for (const { type, fields } of nodesHere(query)) {
    if (type !== 'OPEXPR' || !Array.isArray(fields.args) || fields.args.length !== 2) continue
    const [left, right] = fields.args.map(workspaceOf)
    if (typeof left === 'number' && typeof right === 'number') {
      same.set(left, (same.get(left) ?? new Set()).add(right))
      same.set(right, (same.get(right) ?? new Set()).add(left))
    } else if (typeof left === 'number' && right) bound.add(left)
    else if (typeof right === 'number' && left) bound.add(right)
  }
  for (const one of bound) for (const other of same.get(one) ?? []) bound.add(other)
  return [...relations].every(
    ([index, oid]) =>
      !tables.distributed.has(oid) ||
      bound.has(index) ||
      (isInsert && index === Number(query.fields.resultRelation)),
  )
}

/**
 * @param isOuterKnown whether a value of the query around this one is one
 * @returns the index of the table of which it is the workspace, whether it is another value; undefined for the rest
 */
function workspaceOf(
  value: ParseValue,
  relations: Map<number, string>,
  tables: Tables,
  isOuterKnown: boolean,
): number | true | undefined {
  if (!isNode(value)) return undefined
  if (value.type === 'RELABELTYPE' || value.type === 'COERCEVIAIO')
    return workspaceOf(value.fields.arg ?? '', relations, tables, isOuterKnown)
  if (value.type !== 'VAR') return ['PARAM', 'CONST'].includes(value.type) || undefined
  if (value.fields.varlevelsup !== '0') return isOuterKnown || undefined
  const oid = relations.get(Number(value.fields.varno))
  const isWorkspace = oid !== undefined && tables.distributed.get(oid) === value.fields.varattno
  return isWorkspace ? Number(value.fields.varno) : undefined
}

/** Returns the object identifiers of a query's own tables, by their numbers in it. */
function relationsOf({ fields }: ParseNode): Map<number, string> {
  const entries = Array.isArray(fields.rtable) ? fields.rtable : []
  const excluded = isNode(fields.onConflict) ? Number(fields.onConflict.fields.exclRelIndex) : 0
  return new Map(
    entries.flatMap((entry, index) =>
      isNode(entry) && entry.fields.rtekind === RELATION && index + 1 !== excluded
        ? [[index + 1, String(entry.fields.relid)] as const]
        : [],
    ),
  )
}

/** Returns the nodes of a query without those of its subqueries, and without the row that `excluded` stands for. */
function nodesHere(query: ParseNode): ParseNode[] {
  const isOther = (node: ParseNode) =>
    node !== query &&
    (node.type === 'QUERY' || (node.type.startsWith('RANGETBLENTRY') && node.fields.rtekind !== SUBQUERY))
  const { onConflict, ...others } = query.fields
  const conflict: ParseNode['fields'] = isNode(onConflict) ? { ...onConflict.fields, exclRelTlist: '' } : {}
  return [...Object.values(others), ...Object.values(conflict)].flatMap((part) => [
    ...nodesOf(part, (node) => !isOther(node)),
  ])
}

function isEmpty(list: ParseValue | undefined): boolean {
  return !Array.isArray(list) || list.length === 0
}
