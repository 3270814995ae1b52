import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Radio.css'
import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { LostResponse } from '../parts/lost-response.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { shownOnceKey } from '../parts/shown-once-dialog.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import type { MadeKey } from './made-key-dialog.tsx'

type RotateKeyDialogProps = {
  /** The last one, if any, while the dialog is closed. */
  serviceKey: Schemas['ServiceKey'] | undefined
  opened: boolean
  onClose: () => void
  onMade: (made: MadeKey) => void
}

/** Replaces a key; both keys work during the grace period. */
export function RotateKeyDialog({ serviceKey, opened, onClose, onMade }: RotateKeyDialogProps) {
  const name = serviceKey && visibleName(serviceKey.name, `…${serviceKey.last_four}`)
  return (
    <Modal opened={opened} onClose={onClose} title={`Rotate ${name}`}>
      {serviceKey && <RotateKeyForm serviceKey={serviceKey} onClose={onClose} onMade={onMade} />}
    </Modal>
  )
}

function RotateKeyForm({
  serviceKey,
  onClose,
  onMade,
}: Omit<RotateKeyDialogProps, 'opened'> & { serviceKey: Schemas['ServiceKey'] }) {
  const { key_id, last_four, expires_at } = serviceKey
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const keysKey = useWorkspaceKey('service-keys')
  const [grace, setGrace] = useState<Grace>('86400')
  const rotate = useMutation({
    mutationKey: shownOnceKey,
    // The result stays out of the mutation's state, so that a secret key exists only where it is shown.
    mutationFn: async () => {
      const body = { grace_seconds: Number(grace) }
      const { kind, name, token } = await taken(cairn.rotateServiceKey({ path: { key_id }, body }))
      const note = `The old key, …${last_four}, ${graces[grace].outcome}`
      if (token) onMade({ kind, name, token, note })
    },
    onSuccess: () => {
      onClose()
      void queryClient.invalidateQueries({ queryKey: keysKey })
    },
  })

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        rotate.mutate()
      }}
    >
      <Stack>
        <Text size="sm">
          Creates a new key with the same name, kind, origins and rate limit, without expiry. Both keys work
          during the grace period, so that you can deploy the new one; then …{last_four} stops working.
        </Text>
        {expires_at && <Text size="sm">If the old key expires earlier, it keeps its expiry.</Text>}
        <Radio.Group
          label="Grace period of the old key"
          value={grace}
          onChange={(value) => setGrace(isGrace(value) ? value : '86400')}
        >
          <Stack gap="xs" mt="xs">
            {Object.entries(graces).map(([seconds, { label }]) => (
              <Radio key={seconds} value={seconds} label={label} />
            ))}
          </Stack>
        </Radio.Group>
        <ProblemAlert error={rotate.error} />
        <LostResponse error={rotate.error}>
          The key may have been rotated all the same. Look for a new key with its name in the list before you
          try again: if it is a secret key, revoke it, because it cannot be shown again.
        </LostResponse>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            Rotate key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** By length in seconds, shortest first. */
const graces = {
  0: { label: 'None: the old key stops working immediately', outcome: 'no longer works.' },
  3600: { label: '1 hour', outcome: 'works for up to 1 more hour.' },
  86400: { label: '24 hours', outcome: 'works for up to 24 more hours.' },
  604800: { label: '7 days', outcome: 'works for up to 7 more days.' },
}

type Grace = `${keyof typeof graces}`

function isGrace(value: string): value is Grace {
  return value in graces
}
