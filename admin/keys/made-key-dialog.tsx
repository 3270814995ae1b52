import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { copyText } from '../parts/clipboard.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { LeaveGuard } from '../parts/forms/leave-guard.tsx'
import { visibleName } from '../parts/visible-name.ts'

/** A new key, with its token. */
export type MadeKey = {
  kind: Schemas['KeyKind']
  name: string
  token: string
  /** What happens to the key that it replaces, if any. */
  note?: string
}

type MadeKeyDialogProps = {
  /** The dialog is open while this is set. */
  made: MadeKey | undefined
  onClose: () => void
}

/** Shows a new key. A secret key is shown only once: closing the dialog without copying it asks for confirmation. */
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
        // Escape and the focus belong to the confirmation while it is open.
        closeOnEscape={!isAsking}
        trapFocus={!isAsking}
      >
        <Stack>
          <Text size="sm">
            {isSecret
              ? 'Copy the key now and store it in a safe place. It cannot be shown again: Cairn stores only a digest of it.'
              : 'Use this key in your pages. It is not secret, and you can copy it again from the list of service keys.'}
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
              {copying === 'copied' && 'Key copied.'}
              {copying === 'failed' && 'Could not copy. Select the key and copy it.'}
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
          title="Close without copying the key?"
          confirmLabel="Close without copying"
          danger
          onConfirm={onClose}
        >
          The key was not copied and cannot be shown again. Without it, you need to create another one.
        </ConfirmDialog>
      )}
      <LeaveGuard
        active={wouldBeLost}
        title="Leave without copying the key?"
        confirmLabel="Leave without copying"
      >
        The key was not copied and cannot be shown again. Without it, you need to create another one.
      </LeaveGuard>
    </>
  )
}
