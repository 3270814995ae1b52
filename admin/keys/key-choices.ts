import type { Schemas } from '../../client/person.ts'
import type { Choice, ChoiceSource } from '../parts/forms/searched-select.tsx'
import { listSearch } from '../parts/lists/list-search.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { keyText } from './key-name.tsx'

/** The service keys of the workspace, including revoked ones, for a `SearchedSelect`. */
export function useKeyChoices(): ChoiceSource {
  const cairn = useCairn()
  return {
    key: useWorkspaceKey('service-keys', 'choices'),
    search: listSearch((query, signal) => taken(cairn.listServiceKeys({ query, signal })), keyChoice),
    async find(key_id, signal) {
      const { data } = await taken(cairn.listServiceKeys({ query: { search: key_id, limit: 1 }, signal }))
      return data.filter((key) => key.key_id === key_id).map(keyChoice)[0]
    },
  }
}

/** A service key as an option. */
export function keyChoice(key: Schemas['ServiceKey']): Choice {
  return { value: key.key_id, label: keyText(key) }
}
