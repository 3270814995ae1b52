import { Button, type ButtonProps } from '@mantine/core'

/** Clears the filters that are set. */
export function ClearFiltersButton({
  count,
  onClear,
  ...button
}: Pick<ButtonProps, 'variant' | 'size'> & { count: number; onClear: () => void }) {
  return (
    // Not hidden and not truly disabled: either would lose the focus when it is clicked.
    <Button {...button} aria-disabled={count === 0} data-disabled={count === 0} onClick={onClear}>
      Clear filters
    </Button>
  )
}
