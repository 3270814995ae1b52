import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

/** One page of a list of the API. */
type ListPage<Item> = { data: Item[]; next_cursor: string | null }

/** Reads the page at a cursor, the first one without. */
type FetchPage<Item> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>

/** Passed on to the query. */
type PagesOptions = {
  enabled?: boolean
  /** False: what is shown stays until somebody asks for more of it. */
  refetchOnWindowFocus?: boolean
  refetchOnReconnect?: boolean
  /** How often the pages that are shown are read again, in milliseconds. */
  refetchInterval?: number | false
  /** Whether the list of an earlier key stays while the one of this key is on its way. */
  keepsList?: (earlier: QueryKey) => boolean
}

/** An empty page may have more behind it. After so many of them in a row somebody is asked whether to go on. */
const limitEmptyPages = 10

/**
 * A list of the API, page by page. `items` is everything read so far, empty until the first page is there; `isEmpty` says
 * that the list has come to its end without any.
 *
 * `key` names the list with all its filters (`useWorkspaceKey('journeys', { status })`). To be passed to `<LoadMore>`.
 */
export function usePages<Item>(
  key: QueryKey,
  fetchPage: FetchPage<Item>,
  { keepsList, ...options }: PagesOptions = {},
) {
  const query = useInfiniteQuery({
    ...options,
    queryKey: key,
    queryFn: ({ pageParam, signal }) => nextFound(fetchPage, signal, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (list, earlier) => (earlier && keepsList?.(earlier.queryKey) ? list : undefined),
  })
  const items = query.data?.pages.flatMap(({ data }) => data) ?? []
  const isEmpty = query.data !== undefined && items.length === 0 && !query.hasNextPage
  return { ...query, items, isEmpty }
}

/** The page at a cursor, or the first one behind it that is not empty; an empty one only after so many. */
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
