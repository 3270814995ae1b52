import type { Schemas } from '../../client/person.ts'
import type { Choice, ChoiceSource } from '../parts/forms/searched-select.tsx'
import { nextFound } from '../parts/lists/pages.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { keyText } from './key-name.tsx'

/** The service keys of the workspace, including revoked ones, for a `SearchedSelect`. */
export function useKeyChoices(): ChoiceSource {
  const cairn = useCairn()
  return {
    key: useWorkspaceKey('service-keys', 'choices'),
    async search(text, signal) {
      const query = { limit: 20, ...(text && { search: text }) }
      const { data, next_cursor } = await nextFound(
        (cursor, signal) =>
          taken(cairn.listServiceKeys({ query: { ...query, ...(cursor && { cursor }) }, signal })),
        signal,
      )
      return [{ items: data.map(keyChoice), hasMore: next_cursor !== null }]
    },
    async find(key_id, signal) {
      const { data } = await taken(cairn.listServiceKeys({ query: { search: key_id, limit: 1 }, signal }))
      return data.filter((key) => key.key_id === key_id).map(keyChoice)[0]
    },
  }
}

function keyChoice(key: Schemas['ServiceKey']): Choice {
  return { value: key.key_id, label: keyText(key) }
}
