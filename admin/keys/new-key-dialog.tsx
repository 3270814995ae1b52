import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Radio.css'
import { Button, Group, Modal, Radio, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { LostResponse } from '../parts/lost-response.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { shownOnceKey } from '../parts/shown-once-dialog.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { type KeyDraft, keyCreation, keyErrors, keyFaults, newKeyDraft } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'
import type { MadeKey } from './made-key-dialog.tsx'

type NewKeyDialogProps = {
  opened: boolean
  onClose: () => void
  onMade: (made: MadeKey) => void
}

/** Creates a service key. */
export function NewKeyDialog({ opened, onClose, onMade }: NewKeyDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create service key" size="lg">
      <NewKeyForm onClose={onClose} onMade={onMade} />
    </Modal>
  )
}

function NewKeyForm({ onClose, onMade }: Omit<NewKeyDialogProps, 'opened'>) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const keysKey = useWorkspaceKey('service-keys')
  const [kind, setKind] = useState<Schemas['KeyKind']>('publishable')
  const form = useForm<KeyDraft>({
    initialValues: newKeyDraft,
    validate: (draft) => keyFaults(kind === 'secret' ? { ...draft, allowed_origins: [] } : draft),
    validateInputOnChange: ['allowed_origins'],
  })
  const create = useMutation({
    mutationKey: shownOnceKey,
    // The result stays out of the mutation's state, so that a secret key exists only where it is shown.
    mutationFn: async (draft: KeyDraft) => {
      const key = await taken(cairn.createServiceKey({ body: keyCreation(kind, draft, new Date()) }))
      if (key.token) onMade({ kind, name: key.name, token: key.token })
    },
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: keysKey }),
    onError: (error) => form.setErrors(keyErrors(error)),
  })

  return (
    <form
      noValidate
      onSubmit={form.onSubmit(
        (draft) => create.mutate(draft),
        (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus(),
      )}
    >
      <Stack>
        <Radio.Group
          label="Kind"
          value={kind}
          onChange={(value) => setKind(value === 'secret' ? value : 'publishable')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="publishable"
              label="Publishable, for browsers"
              description="Can only register customers and send events. Anyone can read it in your pages, so it is not secret and can be shown again."
            />
            <Radio
              value="secret"
              label="Secret, for servers"
              description="Can also read customers and events, and change journeys. Shown only once. Never use it in a browser."
            />
          </Stack>
        </Radio.Group>
        <KeyFields form={form} kind={kind} />
        <ProblemAlert error={create.error} />
        <LostResponse error={create.error}>
          The key may have been created all the same. Look for it in the list before you try again: if it is a
          secret key, revoke it, because it cannot be shown again.
        </LostResponse>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
