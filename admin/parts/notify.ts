import { useSyncExternalStore } from 'react'

let isWanted = false
const listeners = new Set<() => void>()

/** Shows a toast notification. The library is loaded with the first one. */
export async function notify(message: string): Promise<void> {
  const { notifications } = await import('./notifications.ts')
  notifications.show({ message, withCloseButton: false })
  isWanted = true
  for (const listener of listeners) listener()
}

/** Whether a notification was ever shown. */
export function useNotified(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isWanted,
  )
}
