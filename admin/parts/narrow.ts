import { useMediaQuery } from '@mantine/hooks'

/** Whether the window is narrower than Mantine's `sm`, in step with `hiddenFrom="sm"` and `visibleFrom="sm"`. */
export function useIsNarrow(): boolean {
  // At once and not in an effect: else every page would first be laid out for a wide window.
  return useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
}
