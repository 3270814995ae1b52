/** Listens to `beforeunload` while leaving the page would lose something, so that the browser asks (LeaveGuard). */
export function keepUnsaved(event: Event): void {
  event.preventDefault()
}

/** Whether leaving the page would lose something. */
export function hasUnsaved(): boolean {
  return !dispatchEvent(new Event('beforeunload', { cancelable: true }))
}

/**
 * Whether the page can be left: asks if something would be lost. Call it before signing out; when the browser asks, the
 * session has already ended.
 */
export function mayLeave(): boolean {
  return !hasUnsaved() || confirm('Leave this page? What you have not saved or copied will be lost.')
}
