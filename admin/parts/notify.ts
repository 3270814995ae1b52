import { useSyncExternalStore } from 'react'

let isWanted = false
const listeners = new Set<() => void>()

/** Tells in passing what has been done. What tells it is loaded for the first time that there is something to tell. */
export async function notify(message: string): Promise<void> {
  const { notifications } = await import('./notifications.ts')
  notifications.show({ message, withCloseButton: false })
  isWanted = true
  for (const listener of listeners) listener()
}

/** Whether there has been anything to tell. */
export function useNotified(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isWanted,
  )
}
