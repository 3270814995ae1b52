import { Button, Center, Stack, Text } from '@mantine/core'
import { ProblemAlert } from './problem-alert.tsx'

/** What is used of the result of `usePages`. */
type MorePages = {
  items: readonly unknown[]
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  error: unknown
  fetchNextPage: () => unknown
}

/**
 * Reads the next page of a list of `usePages` when asked to; where nothing has been found yet, looks further for what is
 * older. Nothing once all is there.
 */
export function LoadMore({ query }: { query: MorePages }) {
  if (!query.hasNextPage) return null
  const isFound = query.items.length > 0
  return (
    <Stack>
      {query.isFetchNextPageError && <ProblemAlert error={query.error} />}
      {!isFound && (
        <Text ta="center" role="status">
          {query.isFetchingNextPage
            ? 'Looking further…'
            : 'Nothing among the newest. There is more to look through.'}
        </Text>
      )}
      <Center>
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          {isFound ? 'Show more' : 'Look further'}
        </Button>
      </Center>
    </Stack>
  )
}
