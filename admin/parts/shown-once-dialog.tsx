import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useIsMutating } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { copyText } from './clipboard.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { LeaveGuard } from './forms/leave-guard.tsx'

/**
 * Shows a new secret or key, with a button that copies it. If it is shown only once, closing the dialog without copying it
 * asks for confirmation.
 */
export function ShownOnceDialog({
  title,
  value,
  label,
  noun,
  isOnce = true,
  cure,
  onClose,
  children,
}: {
  title: string
  value: string
  /** The accessible name of the value. */
  label: string
  /** What the value is, in a sentence: `key`. */
  noun: string
  /** Whether it cannot be shown again. */
  isOnce?: boolean
  /** What somebody must do who has lost it, in the confirmation. */
  cure: string
  onClose: () => void
  children: ReactNode
}) {
  const [copying, setCopying] = useState<'not yet' | 'copied' | 'failed'>('not yet')
  const [isAsking, setIsAsking] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wouldBeLost = isOnce && copying !== 'copied'
  const loss = `The ${noun} was not copied and cannot be shown again. ${cure}`

  async function copy() {
    try {
      await copyText(value, button.current)
      setCopying('copied')
    } catch {
      setCopying('failed')
    }
  }

  return (
    <>
      <Modal
        opened
        onClose={() => (wouldBeLost ? setIsAsking(true) : onClose())}
        title={title}
        size="lg"
        // Escape and the focus belong to the confirmation while it is open.
        closeOnEscape={!isAsking}
        trapFocus={!isAsking}
      >
        <Stack>
          {children}
          <Code
            block
            aria-label={label}
            onCopy={() => setCopying('copied')}
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', userSelect: 'all' }}
          >
            {value}
          </Code>
          <Button
            ref={button}
            size="md"
            data-autofocus
            leftSection={
              copying === 'copied' ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />
            }
            onClick={copy}
          >
            Copy {noun}
          </Button>
          <Group justify="space-between">
            <Text size="sm" role="status">
              {copying === 'copied' && `${noun[0]?.toUpperCase()}${noun.slice(1)} copied.`}
              {copying === 'failed' && `Could not copy. Select the ${noun} and copy it.`}
            </Text>
            <Button variant="default" onClick={() => (wouldBeLost ? setIsAsking(true) : onClose())}>
              Done
            </Button>
          </Group>
        </Stack>
      </Modal>
      {/* Mounted on demand: otherwise the press of Escape that opens it would also close it. */}
      {isAsking && (
        <ConfirmDialog
          opened
          onClose={() => setIsAsking(false)}
          title={`Close without copying the ${noun}?`}
          confirmLabel="Close without copying"
          danger
          onConfirm={onClose}
        >
          {loss}
        </ConfirmDialog>
      )}
      <UncopiedGuard active={wouldBeLost} noun={noun}>
        {loss}
      </UncopiedGuard>
    </>
  )
}

/** The key of the mutations whose result is shown once, in a `ShownOnceDialog` or a `OneTimeLink`. */
export const shownOnceKey = ['shown once']

/**
 * Asks before the page is left while such a mutation is pending: closing its dialog does not cancel it, and on another page
 * nobody would see the result.
 */
export function ShownOnceGuard({ noun, cure }: { noun: string; cure: string }) {
  // A router has one guard: afterwards it is `UncopiedGuard`.
  if (!useIsCreating()) return null
  return (
    <LeaveGuard active title={`Leave before the ${noun} is shown?`} confirmLabel="Leave">
      {`The new ${noun} is being created and will be shown here. ${cure}`}
    </LeaveGuard>
  )
}

/**
 * While active, asks before the page is left without copying what is shown once.
 * @param props.children what would be lost
 */
export function UncopiedGuard({
  active,
  noun,
  children,
}: {
  active: boolean
  noun: string
  children: string
}) {
  // A mutation may still be pending when its result is shown.
  if (useIsCreating()) return null
  return (
    <LeaveGuard
      active={active}
      title={`Leave without copying the ${noun}?`}
      confirmLabel="Leave without copying"
    >
      {children}
    </LeaveGuard>
  )
}

/** Whether something is being created that is shown once. */
export function useIsCreating(): boolean {
  return useIsMutating({ mutationKey: shownOnceKey }) > 0
}
