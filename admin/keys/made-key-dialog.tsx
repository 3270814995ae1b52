import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { copyText } from '../parts/clipboard.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { visibleName } from '../parts/visible-name.ts'

/** A key that was just made, with the key itself. */
export type MadeKey = {
  kind: Schemas['KeyKind']
  name: string
  token: string
  /** What happens to the key that it replaces, if it replaces one. */
  note?: string
}

type MadeKeyDialogProps = {
  /** The dialog is open while there is one. */
  made: MadeKey | undefined
  onClose: () => void
}

/** Shows a new key, a secret one this once: whoever closes the dialog without having copied that is asked again. */
export function MadeKeyDialog({ made, onClose }: MadeKeyDialogProps) {
  return made && <OpenMadeKeyDialog key={made.token} made={made} onClose={onClose} />
}

function OpenMadeKeyDialog({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  const { kind, name, token, note } = made
  const [copying, setCopying] = useState<'not yet' | 'copied' | 'failed'>('not yet')
  const [isAsking, setIsAsking] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const isSecret = kind === 'secret'
  const wouldBeLost = isSecret && copying !== 'copied'

  async function copy() {
    try {
      await copyText(token, button.current)
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
        title={`Your new ${kind} key “${visibleName(name)}”`}
        size="lg"
        closeOnClickOutside={false}
        // The question above it closes by Escape and holds the focus, not both.
        closeOnEscape={!isAsking}
        trapFocus={!isAsking}
      >
        <Stack>
          <Text size="sm">
            {isSecret
              ? 'Copy the key now and keep it in a safe place. It cannot be shown again: Cairn stores only a digest of it.'
              : 'Put it into your pages. It is no secret, and can be shown again in the list of service keys.'}
          </Text>
          {note && <Text size="sm">{note}</Text>}
          <Code
            block
            aria-label="Service key"
            onCopy={() => setCopying('copied')}
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', userSelect: 'all' }}
          >
            {token}
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
            Copy key
          </Button>
          <Group justify="space-between">
            <Text size="sm" role="status">
              {copying === 'copied' && 'The key is copied.'}
              {copying === 'failed' && 'The browser refused to copy. Select the key and copy it yourself.'}
            </Text>
            <Button variant="default" onClick={() => (wouldBeLost ? setIsAsking(true) : onClose())}>
              Done
            </Button>
          </Group>
        </Stack>
      </Modal>
      {/* Mounted only now: a dialog that waits would be closed by the same press of Escape that opens it. */}
      {isAsking && (
        <ConfirmDialog
          opened
          onClose={() => setIsAsking(false)}
          title="Close without copying the key?"
          confirmLabel="Close without copying"
          danger
          onConfirm={onClose}
        >
          The key was not copied, and it cannot be shown again. Without it you have to create another one.
        </ConfirmDialog>
      )}
      <LeaveGuard
        active={wouldBeLost}
        title="Leave without copying the key?"
        confirmLabel="Leave without copying"
      >
        The key was not copied, and it cannot be shown again. Without it you have to create another one.
      </LeaveGuard>
    </>
  )
}
