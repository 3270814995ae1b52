import { NoMatches } from '../parts/filters/no-matches.tsx'

/** Shown if no event matches the filters of a list. */
export function NoEventMatches({ onClear }: { onClear: () => void }) {
  return (
    <NoMatches items="events" onClear={onClear}>
      An event_id must match exactly, including case.
    </NoMatches>
  )
}
