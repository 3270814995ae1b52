import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

/** One page of a list of the API. */
type ListPage<Item> = { data: Item[]; next_cursor: string | null }

/** Passed on to the query. */
type PagesOptions = {
  enabled?: boolean
  /** How often the pages that are shown are read again, in milliseconds. */
  refetchInterval?: number | false
}

/**
 * A list of the API, page by page. `items` is everything read so far, empty until the first page is there.
 *
 * `key` names the list with all its filters (`useWorkspaceKey('journeys', { status })`); `page` reads the page at a
 * cursor, the first one without. To be passed to `<LoadMore>`.
 */
export function usePages<Item>(
  key: QueryKey,
  page: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
  options: PagesOptions = {},
) {
  const query = useInfiniteQuery({
    ...options,
    queryKey: key,
    queryFn: ({ pageParam, signal }) => page(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
  return { ...query, items: query.data?.pages.flatMap(({ data }) => data) ?? [] }
}
