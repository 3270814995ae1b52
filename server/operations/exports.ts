import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { cursorPosition, firstPosition } from '../domain/cursors.ts'
import { endField } from '../domain/export-formats.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import type { Database } from '../storage/database.ts'
import { type Export, exportLines, settled } from '../storage/exports/export-walk.ts'
import type { WalkBound } from '../storage/exports/exports.ts'
import { customerSlice } from '../storage/lists/arrived-customers.ts'
import { hasWorkspace } from '../storage/tables/workspaces.ts'
import { eventFilter } from './events.ts'
import { noteReader } from './noted-readers.ts'

export const exportEvents: Operation<'exportEvents'> = async ({ workspaceId, query }, context) => {
  const { limit, cursor, format = 'ndjson', ...filter } = query
  const { storage, reading } = context
  const bound = await settledNow(context, () => storage.events.eventsBound(workspaceId, reading))
  const wanted = { workspace_id: workspaceId, filter: eventFilter(filter), bound: bound.place, format }
  return await listFile(context, workspaceId, cursor, {
    list: 'events',
    filter,
    limit,
    format,
    bound,
    read: (after, most) => storage.events.eventSlice({ ...wanted, after, most }, reading),
  })
}

export const exportCustomers: Operation<'exportCustomers'> = async ({ workspaceId, query }, context) => {
  const { limit, cursor, format = 'ndjson', ...filter } = query
  const { storage, reading } = context
  const arrived = await settledNow(context, () => storage.arrivedCustomers(reading))
  return await listFile(context, workspaceId, cursor, {
    list: 'customers',
    filter,
    limit,
    format,
    bound: arrived,
    read: (after, most) =>
      customerSlice(storage.lists(reading), workspaceId, filter, { after, most, format }, arrived),
  })
}

/** Records who exports a list, and returns the file with it from a cursor on. */
async function listFile(
  context: Context,
  workspaceId: string,
  cursor: string | undefined,
  exported: Pick<Export, 'list' | 'filter' | 'limit' | 'format' | 'bound' | 'read'>,
) {
  const { list, filter, format } = exported
  const action = `${list}_exported` as const
  await noteReader(context, workspaceId, { action, filter }, { isGoingOn: cursor !== undefined })
  let end: components['schemas']['ExportEnd'] | undefined
  const parts = exportLines({
    ...exported,
    after: cursor === undefined ? firstPosition(PREFIXES[list]) : cursorPosition(cursor, PREFIXES[list]),
    signal: context.reading.signal,
    assertThere: () => assertThere(context.storage.db, workspaceId),
    onEnd: (last) => {
      end = last
    },
  })
  const name = exportFileName(context, list, format)
  // Contract: "Exports", `Export-End`.
  const trailer = { name: 'Export-End', value: () => end && endField(end) }
  const file = { contentType: CONTENT_TYPES[format], name, parts, ...(format === 'csv' && { trailer }) }
  return { status: 200 as const, file }
}

/**
 * Returns the end of an export that starts now, by the clock of the store; that of this process may differ.
 * @throws {Unavailable} see `settled`
 */
export async function settledNow<Seen extends Pick<WalkBound, 'caughtUp_ms'>>(
  { storage, reading }: Context,
  look: () => Promise<Seen>,
): Promise<Seen> {
  return await settled(await storage.clock_ms(reading), reading.signal, look)
}

/**
 * Call it after the last read, so that nobody takes the rest of a workspace that was removed meanwhile for all of it.
 * @throws {Problem} `unauthorized`, as for its keys from then on
 */
export async function assertThere(db: Database, workspaceId: string): Promise<void> {
  if (!(await hasWorkspace(db, workspaceId))) throw new Problem('unauthorized')
}

const PREFIXES = { events: 'evt', customers: 'cus' } as const

const CONTENT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

/** Returns for example `events-20261120T083100Z.ndjson`. */
export function exportFileName({ now }: Context, what: string, extension: string): string {
  const at = instantText(now()).replace(/[-:]|\.\d+/g, '')
  return `${what}-${at}.${extension}`
}
