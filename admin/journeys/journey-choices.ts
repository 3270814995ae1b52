import type { Schemas } from '../../client/person.ts'
import type { Choice, ChoiceSource } from '../parts/forms/searched-select.tsx'
import { listSearch } from '../parts/lists/list-search.ts'
import { visibleName } from '../parts/visible-name.ts'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The journeys of the workspace, optionally by status, for a `SearchedSelect`. */
export function useJourneyChoices(status?: Schemas['JourneyStatus']): ChoiceSource {
  const cairn = useCairn()
  return {
    key: useWorkspaceKey('journeys', 'choices', status),
    search: listSearch(
      (query, signal) =>
        taken(cairn.listJourneys({ query: { ...query, ...(status && { status }) }, signal })),
      journeyChoice,
    ),
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
