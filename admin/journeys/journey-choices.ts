import type { Schemas } from '../../client/person.ts'
import type { Choice, ChoiceSource } from '../parts/forms/searched-select.tsx'
import { nextFound } from '../parts/lists/pages.ts'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The journeys of the workspace, optionally by status, for a `SearchedSelect`. */
export function useJourneyChoices(status?: Schemas['JourneyStatus']): ChoiceSource {
  const cairn = useCairn()
  return {
    key: useWorkspaceKey('journeys', 'choices', status),
    async search(text, signal) {
      const query = { limit: 20, ...(status && { status }), ...(text && { search: text }) }
      const { data, next_cursor } = await nextFound(
        (cursor, signal) =>
          taken(cairn.listJourneys({ query: { ...query, ...(cursor && { cursor }) }, signal })),
        signal,
      )
      return [{ items: data.map(journeyChoice), hasMore: next_cursor !== null }]
    },
    async find(journey_id, signal) {
      try {
        return journeyChoice(await taken(cairn.getJourney({ path: { journey_id }, signal })))
      } catch (error) {
        if (codeOf(error) === 'journey_not_found') return undefined
        throw error
      }
    },
  }
}

/** A journey as an option. */
export function journeyChoice({ journey_id, name, status }: Schemas['Journey']): Choice {
  const label = visibleName(name, journey_id)
  return { value: journey_id, label: status === 'archived' ? `${label} (archived)` : label }
}
