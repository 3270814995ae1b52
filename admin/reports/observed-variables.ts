import { useQuery } from '@tanstack/react-query'
import { namesIn } from '../parts/json-pointer.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** A variable that customers can be divided by, with its values if they are few. */
type ObservedVariable = { name: string; values: readonly string[] }

const comparable = ['string', 'number', 'integer', 'boolean']

/** The variables of the latest events with a name, in the order of the events; empty until they have loaded. */
export function useObservedVariables(event_id: string): readonly ObservedVariable[] {
  const cairn = useCairn()
  // The answer that the screens of definitions use too; their code is not loaded for it.
  const { data } = useQuery({
    queryKey: useWorkspaceKey('definitions', 'observed', event_id),
    queryFn: ({ signal }) => taken(cairn.getObservedEvent({ query: { event_id }, signal })),
    enabled: event_id !== '',
    staleTime: 60_000,
  })
  return (data?.fields ?? []).flatMap(({ pointer, types, values }) => {
    const [name, inner] = namesIn(pointer)
    const isUsable = name && inner === undefined && types.some((type) => comparable.includes(type))
    return isUsable ? [{ name, values: values.map(String) }] : []
  })
}
