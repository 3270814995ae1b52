import { useSearchParams } from 'react-router'
import { type FilterReader, text } from '../filters/filter-readers.ts'
import { useFilters } from '../filters/filters.ts'

/** Moves to the next or previous item of the list; undefined at its ends. */
export type Moves = { next?: (() => void) | undefined; previous?: (() => void) | undefined }

/** The item of a list that is open in a drawer, by its identifier in the address: it can be shared, and Back closes it. */
export function useOpened(name: 'event' | 'refusal' | 'delivery') {
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
    /** Moves from the open item to its neighbors in a list; none if it is not in the list. */
    movesIn(ids: readonly string[]): Moves {
      const index = ids.indexOf(openedId)
      const moveTo = (place: number) => {
        const id = index < 0 ? undefined : ids[place]
        return id === undefined ? undefined : () => change(id, true)
      }
      return { next: moveTo(index + 1), previous: moveTo(index - 1) }
    },
    /** @param others further parameters to set */
    close: (others?: Record<string, string>) => change('', true, others),
  }
}
