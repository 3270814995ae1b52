import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { day_ms } from '../parts/instants/lengths.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** An event name that is defined, or was received in the last 7 days (UTC, including today). */
export type CatalogueEntry = {
  event_id: string
  definition: Schemas['EventDefinition'] | undefined
  /** Events stored in the last 7 days. */
  received: number
  /** When the most recent of them arrived. */
  lastAt: string | undefined
}

/** The event names of the workspace, the most frequent first. */
export function useCatalogue() {
  const cairn = useCairn()
  const definitions = useQuery({
    queryKey: useWorkspaceKey('definitions', 'list'),
    queryFn: async ({ signal }) => {
      const all: Schemas['EventDefinition'][] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const query = { limit: 500, ...(cursor && { cursor }) }
        const page = await taken(cairn.listEventDefinitions({ query, signal }))
        all.push(...page.data)
        cursor = page.next_cursor
      }
      return all
    },
  })
  const received = useQuery({
    queryKey: useWorkspaceKey('activity', 'names'),
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - 6 * day_ms).toISOString()
      return taken(cairn.getActivity({ query: { by: 'day', group_by: 'event', from }, signal }))
    },
    staleTime: 60_000,
  })
  return {
    entries: definitions.data && received.data && entriesOf(definitions.data, received.data.groups),
    /** Names that were received but are not listed, because others are more frequent. */
    omitted: received.data?.groups_omitted ?? 0,
    error: definitions.error ?? received.error,
    refetch: () => Promise.all([definitions.refetch(), received.refetch()]),
  }
}

function entriesOf(
  definitions: readonly Schemas['EventDefinition'][],
  groups: readonly Schemas['ActivityGroup'][],
): CatalogueEntry[] {
  const entries = new Map<string, CatalogueEntry>()
  for (const definition of definitions) {
    const { event_id } = definition
    entries.set(event_id, { event_id, definition, received: 0, lastAt: undefined })
  }
  for (const { event_id, created, last_at } of groups) {
    if (event_id === null || created === 0) continue
    const definition = entries.get(event_id)?.definition
    entries.set(event_id, { event_id, definition, received: created, lastAt: last_at })
  }
  return [...entries.values()].sort((a, b) => b.received - a.received || (a.event_id < b.event_id ? -1 : 1))
}
