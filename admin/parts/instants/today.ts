import { useSyncExternalStore } from 'react'
import { subscribeToClock } from './instant.tsx'

/** Today in the viewer's time zone, as `toDateString` names it, up to half a minute late. */
export function useToday(): string {
  return useSyncExternalStore(subscribeToClock, () => new Date().toDateString())
}
