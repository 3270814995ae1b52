import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { instantText } from '../parts/instants/instant-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { draftOfKey, type KeyDraft, keyChanges, keyErrors, keyFaults } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'

type EditKeyDialogProps = {
  /** The last one, if any, while the dialog is closed. */
  serviceKey: Schemas['ServiceKey'] | undefined
  opened: boolean
  onClose: () => void
}

/** Edits a key's name, origins, expiry and rate limit; sends only changed fields. */
export function EditKeyDialog({ serviceKey, opened, onClose }: EditKeyDialogProps) {
  const name = serviceKey && visibleName(serviceKey.name, `…${serviceKey.last_four}`)
  return (
    <Modal opened={opened} onClose={onClose} title={`Edit ${name}`} size="lg">
      {serviceKey && <EditKeyForm serviceKey={serviceKey} onClose={onClose} />}
    </Modal>
  )
}

function EditKeyForm({ serviceKey, onClose }: { serviceKey: Schemas['ServiceKey']; onClose: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const keysKey = useWorkspaceKey('service-keys')
  /** The version being edited; the list may reload meanwhile. */
  const [base] = useState(serviceKey)
  const form = useForm<KeyDraft>({
    initialValues: draftOfKey(base),
    validate: (draft) => keyFaults(draft, base),
    validateInputOnChange: ['allowed_origins'],
  })
  const save = useMutation({
    mutationFn: (body: Schemas['ServiceKeyUpdate']) =>
      taken(cairn.updateServiceKey({ path: { key_id: base.key_id }, body })),
    onSuccess: () => {
      onClose()
      void queryClient.invalidateQueries({ queryKey: keysKey })
    },
    onError: (error) => form.setErrors(keyErrors(error)),
  })

  function submit(draft: KeyDraft) {
    const changes = keyChanges(base, draft, new Date())
    if (Object.keys(changes).length > 0) save.mutate(changes)
    else onClose()
  }

  return (
    <form
      noValidate
      onSubmit={form.onSubmit(submit, (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus())}
    >
      <Stack>
        <KeyFields
          form={form}
          kind={base.kind}
          presentExpiry={base.expires_at ? `Unchanged: ${instantText(new Date(base.expires_at))}` : undefined}
        />
        <Text size="sm">Changes apply from the next request with this key.</Text>
        <ProblemAlert error={save.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save changes
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
