import { Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { instantText, relativeText } from './instant-text.ts'
import { day_ms } from './lengths.ts'

/**
 * An instant of the API in the viewer's time zone; the exact instant in UTC on hover and focus.
 * @param relative shows the time since, or until, an instant less than a week away: `5 minutes ago`
 */
export function Instant({ at, relative = false }: { at: string; relative?: boolean }) {
  const instant = new Date(at)
  return (
    <Tooltip label={at}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must reach the exact instant too. */}
      <time dateTime={at} tabIndex={0} style={{ whiteSpace: 'nowrap' }}>
        {relative ? <Relative instant={instant} /> : toMinute(instant)}
      </time>
    </Tooltip>
  )
}

const week_ms = 7 * day_ms

/** The time since, or until, an instant less than `within_ms` away, kept up to date; otherwise the instant itself, as on paper. */
export function Relative({ instant, within_ms = week_ms }: { instant: Date; within_ms?: number }) {
  const now_ms = useNow()
  if (Math.abs(instant.getTime() - now_ms) >= within_ms) return toMinute(instant)
  return (
    <span className="relative" data-instant={toMinute(instant)}>
      <span>{relativeText(instant)}</span>
    </span>
  )
}

/** The end of an axis that ends now; on paper the time. */
export function Now() {
  const now_ms = useNow()
  return (
    <span className="relative" data-instant={toMinute(new Date(now_ms))}>
      <span>now</span>
    </span>
  )
}

/** The time in milliseconds since 1970, up to half a minute late. The component is rendered again as time goes by. */
export function useNow(): number {
  return useSyncExternalStore(subscribeToClock, halfMinute)
}

function toMinute(instant: Date): string {
  const whole = new Date(instant)
  whole.setSeconds(0, 0)
  return instantText(whole)
}

const everyMs = 30_000

/** Calls the listener every half minute. */
export function subscribeToClock(listener: () => void): () => void {
  const timer = setInterval(listener, everyMs)
  return () => clearInterval(timer)
}

/** Changes every half minute only, so that a rendering finds the same value twice. */
function halfMinute(): number {
  return Math.floor(Date.now() / everyMs) * everyMs
}
