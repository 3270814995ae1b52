import { Button, Center, Stack, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
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
 * at the end of the list, and while it is that of earlier filters. The first row that was read receives the focus, unless it has
 * been moved meanwhile.
 */
export function LoadMore({ query }: { query: MorePages }) {
  const whole = useRef<HTMLDivElement>(null)
  const lastRow = useRef<Element>(null)
  useEffect(() => {
    const next = lastRow.current?.nextElementSibling
    if (!next) return
    lastRow.current = null
    const focused = document.activeElement
    if (focused === document.body || whole.current?.contains(focused)) takeFocus(next)
  })
  if (!query.hasNextPage || query.isPlaceholderData) return null
  const isFound = query.items.length > 0
  function read() {
    const rows = whole.current?.parentElement?.querySelectorAll('tr, li') ?? []
    lastRow.current = [...rows].at(-1) ?? null
    query.fetchNextPage()
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
