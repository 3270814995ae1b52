import { Button, Center, Stack } from '@mantine/core'
import { ProblemAlert } from './problem-alert.tsx'

/** What is used of the result of `usePages`. */
type MorePages = {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  error: unknown
  fetchNextPage: () => unknown
}

/** Reads the next page of a list of `usePages` when asked to. Nothing once all is there. */
export function LoadMore({ query }: { query: MorePages }) {
  if (!query.hasNextPage) return null
  return (
    <Stack>
      {query.isFetchNextPageError && <ProblemAlert error={query.error} />}
      <Center>
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show more
        </Button>
      </Center>
    </Stack>
  )
}
