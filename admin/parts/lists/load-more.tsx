import { Button, Center, Stack, Text } from '@mantine/core'
import { useRef } from 'react'
import { takeFocus } from '../lost-focus.ts'
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
 * at the end of the list, and while it is that of earlier filters. The first row of the page that was read receives the focus.
 */
export function LoadMore({ query }: { query: MorePages }) {
  const whole = useRef<HTMLDivElement>(null)
  if (!query.hasNextPage || query.isPlaceholderData) return null
  const isFound = query.items.length > 0
  async function read() {
    const last = [...(whole.current?.parentElement?.querySelectorAll('tr, li') ?? [])].at(-1)
    await query.fetchNextPage()
    // Once the rows are drawn. The button was disabled meanwhile, or is gone.
    setTimeout(() => {
      const next = last?.nextElementSibling
      if (next && document.activeElement === document.body) takeFocus(next)
    })
  }
  return (
    <Stack ref={whole}>
      {query.isFetchNextPageError && <ProblemAlert error={query.error} />}
      {!isFound && (
        <Text ta="center" role="status">
          {query.isFetchingNextPage
            ? 'Searching older items…'
            : 'No match among the newest items. Older items were not searched yet.'}
        </Text>
      )}
      <Center>
        <Button variant="default" loading={query.isFetchingNextPage} onClick={read}>
          {isFound ? 'Show more' : 'Search older'}
        </Button>
      </Center>
    </Stack>
  )
}
