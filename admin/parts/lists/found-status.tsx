import { VisuallyHidden } from '@mantine/core'
import { countOf } from '../number-text.ts'

/** The used part of `usePages`. */
type FoundPages = {
  items: readonly unknown[]
  data: unknown
  hasNextPage: boolean
  isPlaceholderData: boolean
}

/** Announces to screen readers how many results a search found. `noun` is the singular. */
export function FoundStatus({ query, noun }: { query: FoundPages | undefined; noun: string }) {
  const isThere = query?.data !== undefined && !query.isPlaceholderData
  return (
    <VisuallyHidden role="status">
      {isThere && found(query.items.length, query.hasNextPage, noun)}
    </VisuallyHidden>
  )
}

function found(count: number, hasMore: boolean, noun: string): string {
  if (hasMore) return count === 0 ? '' : `Showing the first ${countOf(count, noun)}`
  return `${countOf(count, noun)} found`
}
