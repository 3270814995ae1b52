import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'

/** The filters of a list, kept in the query string, where '' means that a filter is not set. */
export type Filters<Name extends string> = {
  readonly values: Readonly<Record<Name, string>>
  /** How many are set. */
  readonly count: number
  set(name: Name, value: string): void
  /** Sets several at once. */
  setAll(values: Partial<Record<Name, string>>): void
  clear(): void
}

/**
 * Reads the named filters from the query string and writes them there. A change replaces the entry in the browser's
 * history: Back leaves the list, and coming back to it finds the filters as they were.
 */
export function useFilters<const Name extends string>(names: readonly Name[]): Filters<Name> {
  const [parameters, setParameters] = useSearchParams()
  const values = Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ''])) as Record<
    Name,
    string
  >

  function change(changes: Iterable<readonly [string, string | undefined]>) {
    // Not the parameters of the last rendering: another filter may have been set since.
    const current = new URLSearchParams(location.search)
    for (const [name, value] of changes) {
      if (value) current.set(name, value)
      else current.delete(name)
    }
    setParameters(current, { replace: true, preventScrollReset: true })
  }

  return {
    values,
    count: names.filter((name) => values[name]).length,
    set: (name, value) => change([[name, value]]),
    setAll: (values) => change(Object.entries<string | undefined>(values)),
    clear: () => change(names.map((name) => [name, ''])),
  }
}

/** The filters that are set, as the query of an operation. */
export function given<Name extends string>(
  values: Readonly<Record<Name, string>>,
): Partial<Record<Name, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as Partial<
    Record<Name, string>
  >
}

/**
 * What a field shows while somebody types, apart from the value that holds. The draft follows the value only while the
 * field has no focus: the value comes late, and would take back what was typed meanwhile.
 */
export function useDraft(value: string) {
  const [draft, setDraft] = useState(value)
  const focused = useRef(false)
  useEffect(() => {
    if (!focused.current) setDraft(value)
  }, [value])
  return {
    draft,
    setDraft,
    enter: () => {
      focused.current = true
    },
    leave: () => {
      focused.current = false
    },
  }
}
