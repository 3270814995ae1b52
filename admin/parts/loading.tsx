import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'

/** A placeholder for `lines` rows that are loading. */
export function Loading({ lines = 5 }: { lines?: number }) {
  return (
    <Stack gap="sm" aria-busy>
      <VisuallyHidden role="status">Loading</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => line).map((line) => (
        <Skeleton key={line} height={40} aria-hidden />
      ))}
    </Stack>
  )
}
