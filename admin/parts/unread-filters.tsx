import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { type UnreadFilter, UnreadFiltersContext } from './filters.ts'

// Few addresses have any.
const UnreadFiltersAlert = lazy(() =>
  import('./unread-filters-alert.tsx').then((module) => ({ default: module.UnreadFiltersAlert })),
)

/** Says above a screen which filters of its address are not understood, and are left out. */
export function UnreadFilters({ children }: { children: ReactNode }) {
  const [all, setAll] = useState<ReadonlyMap<string, readonly UnreadFilter[]>>(new Map())
  const tell = useCallback((id: string, unread: readonly UnreadFilter[]) => {
    setAll((before) => {
      const after = new Map(before)
      if (unread.length > 0) after.set(id, unread)
      else after.delete(id)
      return after
    })
  }, [])
  // Some of a screen's parts have filters in common.
  const unread = [...new Map([...all.values()].flat().map((filter) => [filter.name, filter])).values()]
  return (
    <UnreadFiltersContext value={tell}>
      {unread.length > 0 && (
        <Suspense>
          <UnreadFiltersAlert unread={unread} />
        </Suspense>
      )}
      {children}
    </UnreadFiltersContext>
  )
}
