import { Button, Center, Stack, Text } from '@mantine/core'
import { ProblemAlert } from '../problem-alert.tsx'

/** The used part of `usePages`. */
type MorePages = {
  items: readonly unknown[]
  hasNextPage: boolean
  isPlaceholderData: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  error: unknown
  fetchNextPage: () => unknown
}

/**
 * A button that reads the next page of a `usePages` list; if nothing was found yet, it searches older items. Renders nothing
 * at the end of the list, and while it is that of earlier filters.
 */
export function LoadMore({ query }: { query: MorePages }) {
  if (!query.hasNextPage || query.isPlaceholderData) return null
  const isFound = query.items.length > 0
  return (
    <Stack>
      {query.isFetchNextPageError && <ProblemAlert error={query.error} />}
      {!isFound && (
        <Text ta="center" role="status">
          {query.isFetchingNextPage
            ? 'Searching older items…'
            : 'No match among the newest items. Older items were not searched yet.'}
        </Text>
      )}
      <Center>
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          {isFound ? 'Show more' : 'Search older'}
        </Button>
      </Center>
    </Stack>
  )
}
