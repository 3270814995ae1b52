import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

/** One page of an API list. */
export type ListPage<Item> = { data: Item[]; next_cursor: string | null }

/** Reads the page at a cursor, or the first page without one. */
type FetchPage<Item> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>

/** Passed to the query. */
type PagesOptions = {
  enabled?: boolean
  /** False: the list stays as it is until somebody asks for more. */
  refetchOnWindowFocus?: boolean
  refetchOnReconnect?: boolean
  /** Interval at which the shown pages are read again, in milliseconds. */
  refetchInterval?: number | false
  /** Whether the list stays, shown as busy, while that of other filters loads, which are the last part of the key. */
  keepsList?: boolean
}

/** Maximum empty pages read in a row before asking whether to continue; more may follow an empty page. */
const limitEmptyPages = 10

/**
 * An API list, page by page. `items` is everything read so far, empty until the first page has loaded; `isEmpty` means that
 * the list ended without any item. `listError` is why the list could not be read, unless it is why a further page could not,
 * which `<LoadMore>` shows.
 *
 * `key` identifies the list with all its filters (`useWorkspaceKey('journeys', { status })`). Pass the result to `<LoadMore>`.
 */
export function usePages<Item>(
  key: QueryKey,
  fetchPage: FetchPage<Item>,
  { keepsList = false, ...options }: PagesOptions = {},
) {
  const query = useInfiniteQuery({
    ...options,
    queryKey: key,
    queryFn: ({ pageParam, signal }) => nextFound(fetchPage, signal, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // That an earlier search found nothing says nothing about this one.
    placeholderData: (list, earlier) =>
      keepsList && earlier && list?.pages[0]?.data[0] && isSameList(key, earlier.queryKey) ? list : undefined,
  })
  const items = query.data?.pages.flatMap(({ data }) => data) ?? []
  const isEmpty = query.data !== undefined && items.length === 0 && !query.hasNextPage
  return { ...query, items, isEmpty, listError: query.isFetchNextPageError ? null : query.error }
}

/** Whether two keys differ at most in their last part, the filters; never those of two workspaces. */
function isSameList(key: QueryKey, earlier: QueryKey): boolean {
  return key.slice(0, -1).every((part, place) => part === earlier[place])
}

/** The page at a cursor, or the first non-empty one after it, within `limitEmptyPages`. */
export async function nextFound<Item>(
  fetchPage: FetchPage<Item>,
  signal: AbortSignal,
  cursor?: string,
): Promise<ListPage<Item>> {
  let page = await fetchPage(cursor, signal)
  for (let read = 1; read < limitEmptyPages && page.data.length === 0 && page.next_cursor; read += 1) {
    signal.throwIfAborted()
    page = await fetchPage(page.next_cursor, signal)
  }
  return page
}
