import { Button, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CopyButton } from '../parts/copy-button.tsx'
import { monospaceField } from '../parts/forms/monospace-field.ts'
import { UncopiedGuard } from '../parts/shown-once-dialog.tsx'

/** A link that is shown only once, to be copied. Leaving the page without copying it asks for confirmation. */
export function OneTimeLink({
  label,
  path,
  token,
  children,
  validity,
  onDone,
}: {
  /** What the link is for: `Invitation link`. */
  label: string
  /** The path of the page that it opens. */
  path: string
  token: string
  /** What to do with it. */
  children: ReactNode
  /** How long it works. */
  validity: ReactNode
  onDone: () => void
}) {
  const [isCopied, setIsCopied] = useState(false)
  const link = `${location.origin}/admin${path}#token=${token}`
  return (
    <Stack>
      <Text>{children}</Text>
      <TextInput
        label={label}
        value={link}
        readOnly
        data-autofocus
        onFocus={(event) => event.currentTarget.select()}
        onCopy={() => setIsCopied(true)}
        rightSection={
          <CopyButton value={link} label={`Copy ${label.toLowerCase()}`} onCopied={() => setIsCopied(true)} />
        }
        styles={{ input: monospaceField }}
      />
      <Text size="sm" c="dimmed">
        {validity}
      </Text>
      <Button onClick={onDone} style={{ alignSelf: 'flex-end' }}>
        Done
      </Button>
      <UncopiedGuard active={!isCopied} noun="link">
        The link was not copied and cannot be shown again. Without it, you need to create another one.
      </UncopiedGuard>
    </Stack>
  )
}
