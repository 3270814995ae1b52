import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { countText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { typeText } from './value-words.ts'

/** What the latest stored events with a name look like; '' is no name. */
export function useObserved(event_id: string) {
  const cairn = useCairn()
  return useQuery({
    queryKey: useWorkspaceKey('definitions', 'observed', event_id),
    queryFn: ({ signal }) => taken(cairn.getObservedEvent({ query: { event_id }, signal })),
    enabled: event_id !== '',
    staleTime: 60_000,
  })
}

/** A field in words: `in 980 of 1,000 events, String: "free", "team"`. */
export function observedText(
  { events, types, values }: Schemas['ObservedField'],
  { examined }: Schemas['ObservedEvent'],
): string {
  const share = `in ${countText(events)} of ${countText(examined)} events`
  const examples = values.map((value) => isolated(JSON.stringify(value))).join(', ')
  return `${share}, ${typeText({ type: types })}${examples && `: ${examples}`}`
}
