import { createContext, useContext, useEffect, useId, useRef, useState } from 'react'
import { useNavigationType, useSearchParams } from 'react-router'
import type { FilterReader, ListReader } from './filter-readers.ts'
import { withoutKeys } from './without-keys.ts'

/** The filters of a list, kept in the query string; '' means not set. */
export type Filters<Name extends string, Values extends Record<Name, string> = Record<Name, string>> = {
  /** As returned by their readers; '' also for invalid text. */
  readonly values: Readonly<Values>
  /** How many are set. */
  readonly count: number
  set(name: Name, value: string): void
  /** Sets several at once. */
  setAll(values: Partial<Record<Name, string>>): void
  clear(): void
}

/** Filters that can be set several times. */
export type ListFilters<Lists extends object> = {
  /** As returned by their readers, without those that are invalid. */
  readonly lists: Lists
  setList(name: Extract<keyof Lists, string>, values: readonly string[]): void
}

/** A filter in the address that its reader could not parse. */
export type UnreadFilter = {
  name: string
  text: string
  /** The expected format. */
  form: string
}

/** Receives the filters that each `useFilters`, identified by `id`, ignored (unread-filters.tsx). */
export const UnreadFiltersContext = createContext<(id: string, unread: readonly UnreadFilter[]) => void>(
  () => undefined,
)

type ValuesOf<Readers extends Record<string, FilterReader>> = {
  [Name in keyof Readers]: '' | Exclude<ReturnType<Readers[Name]['read']>, undefined>
}

type ListsOf<Readers extends Record<string, ListReader>> = {
  readonly [Name in keyof Readers]: readonly string[]
}

/**
 * Reads and writes filters in the query string. A filter that its reader cannot parse is ignored, and the frame says so. A
 * change replaces the current history entry: Back leaves the list, and returning to it restores the filters.
 */
export function useFilters<
  const Readers extends Record<string, FilterReader>,
  const Lists extends Record<string, ListReader> = Record<never, ListReader>,
>(
  readers: Readers,
  listReaders?: Lists,
): Filters<Extract<keyof Readers, string>, ValuesOf<Readers>> & ListFilters<ListsOf<Lists>> {
  const [parameters, setParameters] = useSearchParams()
  const names = Object.keys(readers)
  const unread: UnreadFilter[] = []
  const values = Object.fromEntries(
    Object.entries(readers).map(([name, { read, form }]) => {
      const text = parameters.get(name) ?? ''
      const value = text === '' ? '' : read(text)
      if (value === undefined) unread.push({ name, text, form })
      return [name, value ?? '']
    }),
  ) as ValuesOf<Readers>
  const lists = Object.fromEntries(
    Object.entries<ListReader>(listReaders ?? {}).map(([name, { read, form, most }]): readonly unknown[] => {
      const texts = new Set(parameters.getAll(name).filter(Boolean))
      const good = [...texts].filter((text) => read(text) !== undefined).slice(0, most)
      const [bad] = [...texts].filter((text) => !good.includes(text))
      if (bad !== undefined) unread.push({ name, text: bad, form })
      return [name, good]
    }),
  ) as ListsOf<Lists>

  const id = useId()
  const report = useContext(UnreadFiltersContext)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is a new array in each rendering.
  useEffect(() => {
    if (unread.length === 0) return
    report(id, unread)
    return () => report(id, [])
  }, [report, id, JSON.stringify(unread)])

  function change(changes: Iterable<readonly [string, string | readonly string[] | undefined]>) {
    // Not the parameters of the last rendering: another filter may have changed since.
    const current = new URLSearchParams(location.search)
    for (const [name, values] of changes) {
      current.delete(name)
      for (const value of [values ?? []].flat()) if (value) current.append(name, withoutKeys(value))
    }
    setParameters(current, { replace: true, preventScrollReset: true })
  }

  return {
    values,
    lists,
    count: [...names.map((name) => values[name]), ...Object.values<readonly string[]>(lists).flat()].filter(
      Boolean,
    ).length,
    set: (name, value) => change([[name, value]]),
    setAll: (changes) => change(Object.entries<string | undefined>(changes)),
    setList: (name, values) => change([[name, values]]),
    clear: () => change([...names, ...Object.keys(lists)].map((name) => [name, ''])),
  }
}

/** The filters that are set, as an operation's query. */
export function given<Values extends Record<string, string>>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], ''> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as {
    [Name in keyof Values]?: Exclude<Values[Name], ''>
  }
}

/**
 * The text of a field while somebody types, separate from the committed value. In a focused field the draft follows the value
 * only after Back and Forward: otherwise the value updates late and would overwrite what was typed meanwhile.
 */
export function useDraft(value: string) {
  const [draft, setDraft] = useState(value)
  const focused = useRef(false)
  const isMoved = useNavigationType() === 'POP'
  useEffect(() => {
    if (!focused.current || isMoved) setDraft(value)
  }, [value, isMoved])
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
