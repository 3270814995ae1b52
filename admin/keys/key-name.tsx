import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The name of a key with its last characters; its identifier until that has loaded, or if it cannot be read. */
export function useKeyName(key_id: string): string {
  const cairn = useCairn()
  const { data: key } = useQuery({
    queryKey: useWorkspaceKey('service-keys', 'named', key_id),
    queryFn: async ({ signal }) => {
      const { data } = await taken(cairn.listServiceKeys({ query: { search: key_id, limit: 1 }, signal }))
      // The search also finds names and last characters.
      return data.find((key) => key.key_id === key_id) ?? null
    },
    enabled: key_id !== '',
    staleTime: 60_000,
  })
  return key ? keyText(key) : key_id
}

/** The name of a key with its last characters. */
export function keyText({ name, last_four }: Pick<Schemas['ServiceKey'], 'name' | 'last_four'>): string {
  return `${visibleName(name)} …${last_four}`
}
