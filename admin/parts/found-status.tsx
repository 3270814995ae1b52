import { VisuallyHidden } from '@mantine/core'

/** What is used of the result of `usePages`. */
type FoundPages = {
  items: readonly unknown[]
  data: unknown
  hasNextPage: boolean
  isPlaceholderData: boolean
}

/** Tells those who do not see the list how many a search has found. `noun` is what one of them is called. */
export function FoundStatus({ query, noun }: { query: FoundPages | undefined; noun: string }) {
  const isThere = query?.data !== undefined && !query.isPlaceholderData
  return (
    <VisuallyHidden role="status">
      {isThere && found(query.items.length, query.hasNextPage, noun)}
    </VisuallyHidden>
  )
}

function found(count: number, hasMore: boolean, noun: string): string {
  if (hasMore) return count === 0 ? '' : `The first ${count} of more ${noun}s found`
  return `${count} ${noun}${count === 1 ? '' : 's'} found`
}
