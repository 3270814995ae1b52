import { Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { ShownOnceDialog } from '../parts/shown-once-dialog.tsx'
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
  if (!made) return null
  const { kind, name, token, note } = made
  const isSecret = kind === 'secret'
  return (
    <ShownOnceDialog
      key={token}
      title={`Your new ${kind} key “${visibleName(name)}”`}
      value={token}
      label="Service key"
      noun="key"
      isOnce={isSecret}
      cure="Without it, you need to create another one."
      onClose={onClose}
    >
      <Text size="sm">
        {isSecret
          ? 'Copy the key now and store it in a safe place. It cannot be shown again: Cairn stores only a digest of it.'
          : 'Use this key in your pages. It is not secret, and you can copy it again from the list of service keys.'}
      </Text>
      {note && <Text size="sm">{note}</Text>}
    </ShownOnceDialog>
  )
}
