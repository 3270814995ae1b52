import { useEffect } from 'react'
import { useBlocker } from 'react-router'
import { ConfirmDialog } from '../confirm-dialog.tsx'
import { keepUnsaved } from './unsaved.ts'

type LeaveGuardProps = {
  /** Whether leaving would lose something. */
  active: boolean
  title: string
  confirmLabel: string
  /** What would be lost. */
  children: string
}

/** While active, asks before the page is left: by a link, the back button, a reload or closing the tab. */
export function LeaveGuard({ active, title, confirmLabel, children }: LeaveGuardProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => active && currentLocation.pathname !== nextLocation.pathname,
  )

  useEffect(() => {
    if (!active) return
    addEventListener('beforeunload', keepUnsaved)
    return () => removeEventListener('beforeunload', keepUnsaved)
  }, [active])

  return (
    <ConfirmDialog
      opened={blocker.state === 'blocked'}
      title={title}
      confirmLabel={confirmLabel}
      danger
      onConfirm={() => blocker.proceed?.()}
      onClose={() => blocker.reset?.()}
    >
      {children}
    </ConfirmDialog>
  )
}
