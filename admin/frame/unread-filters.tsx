import { type ReactNode, useCallback, useState } from 'react'
import { type UnreadFilter, UnreadFiltersContext } from '../parts/filters/filters.ts'
import { onDemand } from '../parts/on-demand.tsx'

// Rarely needed.
const UnreadFiltersAlert = onDemand(() =>
  import('./unread-filters-alert.tsx').then((module) => module.UnreadFiltersAlert),
)

/** Shows above a screen which filters of its address were ignored as invalid. */
export function UnreadFilters({ children }: { children: ReactNode }) {
  const [all, setAll] = useState<ReadonlyMap<string, readonly UnreadFilter[]>>(new Map())
  const report = useCallback((id: string, unread: readonly UnreadFilter[]) => {
    setAll((before) => {
      const after = new Map(before)
      if (unread.length > 0) after.set(id, unread)
      else after.delete(id)
      return after
    })
  }, [])
  // Parts of a screen may share filters.
  const unread = [...new Map([...all.values()].flat().map((filter) => [filter.name, filter])).values()]
  return (
    <UnreadFiltersContext value={report}>
      {unread.length > 0 && <UnreadFiltersAlert unread={unread} />}
      {children}
    </UnreadFiltersContext>
  )
}
