import type { Schemas } from '../../client/person.ts'
import { keyChoice } from '../keys/key-choices.ts'
import type { Choice, ChoiceSource } from '../parts/forms/searched-select.tsx'
import { nextFound } from '../parts/lists/pages.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The possible actors in the audit log, for a `SearchedSelect`: members and secret keys (publishable keys change nothing). */
export function useActorChoices(): ChoiceSource {
  const cairn = useCairn()
  const members = (search: string | undefined, signal: AbortSignal) =>
    nextFound((cursor, signal) => {
      const query = { limit: 10, ...(search && { search }), ...(cursor && { cursor }) }
      return taken(cairn.listMembers({ query, signal }))
    }, signal)
  const keys = (search: string | undefined, signal: AbortSignal) =>
    nextFound((cursor, signal) => {
      const query = {
        kind: 'secret',
        limit: 10,
        ...(search && { search }),
        ...(cursor && { cursor }),
      } as const
      return taken(cairn.listServiceKeys({ query, signal }))
    }, signal)
  return {
    key: useWorkspaceKey('audit-log', 'actors'),
    async search(text, signal) {
      const [people, programs] = await Promise.all([members(text, signal), keys(text, signal)])
      return [
        { group: 'Members', items: people.data.map(memberChoice), hasMore: people.next_cursor !== null },
        { group: 'Secret keys', items: programs.data.map(keyChoice), hasMore: programs.next_cursor !== null },
      ].filter(({ items }) => items.length > 0)
    },
    async find(id, signal) {
      if (id.startsWith('key_')) return (await keys(id, signal)).data.map(keyChoice)[0]
      return (await members(id, signal)).data.map(memberChoice).find(({ value }) => value === id)
    },
  }
}

function memberChoice({ person_id, name, email }: Schemas['Member']): Choice {
  return { value: person_id, label: `${visibleName(name)} (${email})` }
}
