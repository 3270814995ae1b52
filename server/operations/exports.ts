import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { firstPosition } from '../domain/cursors.ts'
import { endField } from '../domain/export-formats.ts'
import { instantText } from '../domain/instants.ts'
import { pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import type { Database } from '../storage/database.ts'
import { exportLines, settled } from '../storage/exports/export-walk.ts'
import type { WalkBound } from '../storage/exports/exports.ts'
import { customerSlice } from '../storage/lists/arrived-customers.ts'
import { hasWorkspace } from '../storage/tables/workspaces.ts'
import { eventFilter } from './events.ts'
import { noteReader } from './noted-readers.ts'

export const exportEvents: Operation<'exportEvents'> = async ({ workspaceId, query }, context) => {
  const { limit, cursor, format = 'ndjson', ...filter } = query
  const { storage, reading } = context
  const isGoingOn = cursor !== undefined
  const bound = await settledNow(context, () => storage.events.eventsBound(workspaceId, reading))
  await noteReader(context, workspaceId, { action: 'events_exported', filter }, { isGoingOn })
  const end = new EndField()
  const parts = exportLines({
    list: 'events',
    filter,
    after: pageOf(query, 'evt').after ?? firstPosition('evt'),
    limit,
    format,
    bound,
    signal: reading.signal,
    read: (after, most) =>
      storage.events.eventSlice(
        { workspace_id: workspaceId, filter: eventFilter(filter), after, bound: bound.place, most, format },
        reading,
      ),
    assertThere: () => assertThere(storage.db, workspaceId),
    onEnd: end.onEnd,
  })
  return {
    status: 200,
    file: {
      contentType: CONTENT_TYPES[format],
      name: exportFileName(context, 'events', format),
      parts,
      ...(format === 'csv' && { trailer: end.trailer }),
    },
  }
}

export const exportCustomers: Operation<'exportCustomers'> = async ({ workspaceId, query }, context) => {
  const { limit, cursor, format = 'ndjson', ...filter } = query
  const { storage, reading } = context
  const isGoingOn = cursor !== undefined
  const arrived = await settledNow(context, () => storage.arrivedCustomers(reading))
  await noteReader(context, workspaceId, { action: 'customers_exported', filter }, { isGoingOn })
  const end = new EndField()
  const parts = exportLines({
    list: 'customers',
    filter,
    after: pageOf(query, 'cus').after ?? firstPosition('cus'),
    limit,
    format,
    bound: arrived,
    signal: reading.signal,
    read: (after, most) =>
      customerSlice(storage.lists(reading), workspaceId, filter, { after, most, format }, arrived),
    assertThere: () => assertThere(storage.db, workspaceId),
    onEnd: end.onEnd,
  })
  return {
    status: 200,
    file: {
      contentType: CONTENT_TYPES[format],
      name: exportFileName(context, 'customers', format),
      parts,
      ...(format === 'csv' && { trailer: end.trailer }),
    },
  }
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

/** The trailer with the end of a CSV export (contract: "Exports", `Export-End`). */
class EndField {
  #end: components['schemas']['ExportEnd'] | undefined
  readonly onEnd = (end: components['schemas']['ExportEnd']) => {
    this.#end = end
  }
  readonly trailer = {
    name: 'Export-End',
    value: () => this.#end && endField(this.#end),
  }
}

const CONTENT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

/** Returns for example `events-20261120T083100Z.ndjson`. */
export function exportFileName({ now }: Context, what: string, extension: string): string {
  const at = instantText(now()).replace(/[-:]|\.\d+/g, '')
  return `${what}-${at}.${extension}`
}
