import { useSearchParams } from 'react-router'
import { type FilterReader, text } from '../parts/filter-readers.ts'
import { useFilters } from '../parts/filters.ts'

/** Moves to the next one of the list, or the previous one; undefined where there is none. */
export type Moves = { next?: (() => void) | undefined; previous?: (() => void) | undefined }

/** What of a list is open beside it, by its identifier in the address: to be handed on, and closed by the way back. */
export function useOpened(name: 'event' | 'refusal') {
  const [, setParameters] = useSearchParams()
  const { values } = useFilters<Record<string, FilterReader>>({ [name]: text })

  function change(id: string, replace: boolean, others: Record<string, string> = {}) {
    // Not the parameters of the last rendering, as in `useFilters`.
    const current = new URLSearchParams(location.search)
    for (const [other, value] of Object.entries(others)) current.set(other, value)
    if (id) current.set(name, id)
    else current.delete(name)
    setParameters(current, { replace, preventScrollReset: true })
  }

  const openedId = values[name] ?? ''
  return {
    openedId,
    open: (id: string) => change(id, false),
    /** From what is open to its neighbours in a list, nowhere where it is not in it. */
    movesIn(ids: readonly string[]): Moves {
      const index = ids.indexOf(openedId)
      const moveTo = (place: number) => {
        const id = index < 0 ? undefined : ids[place]
        return id === undefined ? undefined : () => change(id, true)
      }
      return { next: moveTo(index + 1), previous: moveTo(index - 1) }
    },
    /** @param others parameters to set with it */
    close: (others?: Record<string, string>) => change('', true, others),
  }
}
