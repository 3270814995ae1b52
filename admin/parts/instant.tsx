import { Tooltip } from '@mantine/core'
import { clockText, dayText } from './instant-text.ts'

/**
 * An instant of the API, in the viewer's time zone and to the minute; exactly and in UTC while the pointer or the
 * focus is on it.
 */
export function Instant({ at }: { at: string }) {
  const instant = new Date(at)
  return (
    <Tooltip label={at}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the exact instant must be reachable by keyboard too. */}
      <time dateTime={at} tabIndex={0} style={{ whiteSpace: 'nowrap' }}>
        {`${dayOf(instant)}, ${clockText(instant)}`}
      </time>
    </Tooltip>
  )
}

function dayOf(instant: Date): string {
  const day = instant.toDateString()
  const today = new Date()
  if (day === today.toDateString()) return 'today'
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (day === yesterday.toDateString()) return 'yesterday'
  return dayText(instant)
}
