import { useMediaQuery } from '@mantine/hooks'

/** Whether the window is narrower than Mantine's `sm`, consistent with `hiddenFrom="sm"` and `visibleFrom="sm"`. */
export function useIsNarrow(): boolean {
  // Immediately, not in an effect: otherwise every page would first be laid out for a wide window.
  return useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
}
