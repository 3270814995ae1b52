import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import type { MadeKey } from './made-key-dialog.tsx'

type RotateKeyDialogProps = {
  serviceKey: Schemas['ServiceKey']
  opened: boolean
  onClose: () => void
  onMade: (made: MadeKey) => void
}

/** Replaces a key by a new one; both work during the grace period. */
export function RotateKeyDialog({ serviceKey, opened, onClose, onMade }: RotateKeyDialogProps) {
  const name = visibleName(serviceKey.name, `…${serviceKey.last_four}`)
  return (
    <Modal opened={opened} onClose={onClose} title={`Rotate ${name}`} closeOnClickOutside={false}>
      <RotateKeyForm serviceKey={serviceKey} onClose={onClose} onMade={onMade} />
    </Modal>
  )
}

function RotateKeyForm({ serviceKey, onClose, onMade }: Omit<RotateKeyDialogProps, 'opened'>) {
  const { key_id, last_four, expires_at } = serviceKey
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const keysKey = useWorkspaceKey('service-keys')
  const [grace, setGrace] = useState<Grace>('86400')
  const rotate = useMutation({
    // The result stays out of the mutation's state: a secret key is kept nowhere but where it is shown.
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
          Makes a new key with the same name, kind, origins and rate limit, and without expiry. During the
          grace period both keys work, so that you can put the new one in place; then …{last_four} is refused.
        </Text>
        {expires_at && <Text size="sm">If the old key expires before that, it keeps its own expiry.</Text>}
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

/** By their length in seconds, the shortest first. */
const graces = {
  0: { label: 'None: the old key is refused at once', outcome: 'is refused from now on.' },
  3600: { label: '1 hour', outcome: 'works for 1 more hour at the most.' },
  86400: { label: '24 hours', outcome: 'works for 24 more hours at the most.' },
  604800: { label: '7 days', outcome: 'works for 7 more days at the most.' },
}

type Grace = `${keyof typeof graces}`

function isGrace(value: string): value is Grace {
  return value in graces
}
