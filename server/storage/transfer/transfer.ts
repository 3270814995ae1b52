import { createHash } from 'node:crypto'
import { EMPTY, type TableDigest, withRows } from './row-digest.ts'
import { isShared, type RowKey, type Rows, TABLES, type TableName } from './tables.ts'
import type { TransferableStore } from './transferable-store.ts'

/** How many rows are read and written at a time: with their variables some megabytes at most, usually less. */
const ROWS = 1000

/** Progress of a copy, as saved in the target store. */
type Progress = {
  /** The identity of the source store, and of the state that it was in. */
  source: string
  table: TableName
  place: RowKey | undefined
  digests: Partial<Record<TableName, TableDigest>>
}

export type CopyStep = {
  table: TableName
  rows: number
  of: number
  /** Whether rows are being copied, or the copy is being verified. */
  step: 'copying' | 'checking'
}

/** The content of the copy differs from the source. */
export class CopyDiffers extends Error {}

/** The target store is not empty. */
export class TargetNotEmpty extends Error {}

type Customer = { workspace_id: string; customer_id: string }

/**
 * Copies a whole store, row by row, and verifies the copy at the end. After an interruption it resumes.
 * @param options.erased the customers whose erasures were recorded beside the source
 * @param options.report reports progress, after some thousand rows
 * @returns rows by table
 * @throws {TargetNotEmpty} if the target contains anything but a part of the same copy
 * @throws {CopyDiffers} if source and copy differ at the end
 */
export async function transfer(
  source: TransferableStore,
  target: TransferableStore,
  { erased = [], report }: { erased?: Iterable<Customer>; report: (progress: CopyStep) => void },
): Promise<Record<TableName, number>> {
  if (await lacksErasures(source, erased)) {
    throw new Error(
      'The store was restored and has customers that were erased. Let a server start on it first.',
    )
  }
  const progress = await begun(source, target)
  const counts = await counted(source)
  for (const table of TABLES.slice(TABLES.indexOf(progress.table))) {
    let digest = progress.digests[table] ?? EMPTY
    const place = table === progress.table ? progress.place : undefined
    for await (const next of pagesOf(source, table, place)) {
      digest = withRows(digest, next.rows)
      progress.digests[table] = digest
      await target.write(table, next.rows, JSON.stringify({ ...progress, table, place: next.place }))
      report({ step: 'copying', table, rows: digest.rows, of: counts[table] })
    }
  }
  await compare({ source, target, digests: progress.digests, report })
  if ((await identityOf(source)) !== progress.source) throw new CopyDiffers('the store was changed meanwhile')
  await target.finish()
  return counts
}

/** Whether some erasures are not in a store, which is then older: a server that starts on it repeats them. */
async function lacksErasures(source: TransferableStore, erased: Iterable<Customer>): Promise<boolean> {
  const workspaces = new Set<unknown>()
  for await (const { rows } of pagesOf(source, 'workspaces', undefined)) {
    for (const { workspace_id, removed_ms } of rows) if (removed_ms === null) workspaces.add(workspace_id)
  }
  const stored = new Set<string>()
  for await (const { rows } of pagesOf(source, 'erasures', undefined)) {
    for (const { workspace_id, customer_id } of rows) stored.add(`${workspace_id} ${customer_id}`)
  }
  for (const { workspace_id, customer_id } of erased) {
    if (workspaces.has(workspace_id) && !stored.has(`${workspace_id} ${customer_id}`)) return true
  }
  return false
}

async function begun(source: TransferableStore, target: TransferableStore): Promise<Progress> {
  if ((await source.count('removals')) > 0) {
    throw new Error('The store has an unfinished removal. Let a server finish it first.')
  }
  const identity = await identityOf(source)
  const noted = await target.progress()
  if (noted !== undefined) {
    const progress: Progress = JSON.parse(noted)
    if (progress.source === identity) return progress
    throw new TargetNotEmpty(
      'it contains an unfinished copy of another store, or of an earlier state of this one',
    )
  }
  for (const [table, rows] of Object.entries(await counted(target))) {
    if (rows > 0) throw new TargetNotEmpty(`its table ${table} is not empty (rows: ${rows})`)
  }
  return { source: identity, table: TABLES[0], place: undefined, digests: {} }
}

/** The tables that grow with what is sent. Of these only the counts are compared, which do not tell that a customer was renamed. */
const LARGE: ReadonlySet<TableName> = new Set(['customers', 'customer_words'])

/**
 * Returns a digest of all that people change, and of the last use of keys: a different one says that a server has run,
 * and rows that were copied before may be stale.
 */
async function identityOf(source: TransferableStore): Promise<string> {
  const hash = createHash('sha256')
  for (const table of TABLES) {
    if (!isShared(table) || LARGE.has(table)) continue
    for await (const { rows } of pagesOf(source, table, undefined)) hash.update(JSON.stringify(rows))
  }
  return hash.digest('hex')
}

/** The rows of a table after a position, in pages; the next page is read while the current one is processed. */
async function* pagesOf(
  store: TransferableStore,
  table: TableName,
  place: RowKey | undefined,
): AsyncGenerator<Rows> {
  let next = store.read(table, place, ROWS)
  for (;;) {
    const page = await next
    if (page.rows.length === 0) return
    next = store.read(table, page.place, ROWS)
    // If the caller stops before the next page is awaited, its failure must not go unhandled.
    next.catch(() => {})
    yield page
  }
}

async function counted(store: TransferableStore): Promise<Record<TableName, number>> {
  const counts: [TableName, number][] = []
  for (const table of TABLES) counts.push([table, await store.count(table)])
  return Object.fromEntries(counts) as Record<TableName, number>
}

type Compared = {
  source: TransferableStore
  target: TransferableStore
  digests: Progress['digests']
  report: (progress: CopyStep) => void
}

/** Reads the copy again. Of the source only row counts are read: its rows were read for the copy. */
async function compare({ source, target, digests, report }: Compared) {
  const counts = await counted(source)
  for (const table of TABLES) {
    const copied = digests[table] ?? EMPTY
    if (counts[table] !== copied.rows) {
      throw new CopyDiffers(
        `${table} has ${counts[table]} rows, ${copied.rows} were copied: the store was changed meanwhile`,
      )
    }
    let found = EMPTY
    for await (const { rows } of pagesOf(target, table, undefined)) {
      found = withRows(found, rows)
      report({ step: 'checking', table, rows: found.rows, of: copied.rows })
    }
    if (found.rows !== copied.rows || found.sum !== copied.sum) {
      throw new CopyDiffers(
        `${table} differs from the source: ${copied.rows} rows were copied, ${found.rows} were found`,
      )
    }
  }
}
