import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { givenNameFault, nameLimit } from '../parts/field-faults.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, fieldErrors, taken } from '../problem.ts'
import { sessionQuery, useCairn, useMembership } from '../session/session.ts'

type DialogProps = { opened: boolean; onClose: () => void }

/** Makes a workspace and opens it. */
export function NewWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const navigate = useNavigate()
  return (
    <Modal opened={opened} onClose={onClose} title="New workspace">
      <NameForm
        description="It has journeys, keys, customers and members of its own; you will own it."
        initialName=""
        submitLabel="Make the workspace"
        send={(name) => taken(cairn.createWorkspace({ body: { name } }))}
        onSent={async ({ workspace_id }) => {
          onClose()
          await navigate(`/w/${workspace_id}/journeys`)
        }}
        onCancel={onClose}
      />
    </Modal>
  )
}

/** Renames the workspace in the URL. */
export function RenameWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const { name } = useMembership()
  return (
    <Modal opened={opened} onClose={onClose} title="Rename the workspace">
      <NameForm
        description="Its members see the new name at once. Keys and links go on working."
        initialName={name}
        submitLabel="Rename"
        send={(name) => taken(cairn.updateWorkspace({ body: { name } }))}
        onSent={onClose}
        onCancel={onClose}
      />
    </Modal>
  )
}

function NameForm({
  description,
  initialName,
  submitLabel,
  send,
  onSent,
  onCancel,
}: {
  description: string
  initialName: string
  submitLabel: string
  send: (name: string) => Promise<Schemas['Membership']>
  /** Called when the session has the workspace. */
  onSent: (workspace: Schemas['Membership']) => void
  onCancel: () => void
}) {
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { name: initialName },
    validate: { name: (value) => givenNameFault(value, 'Give the workspace a name') },
  })
  const save = useMutation({
    mutationFn: async ({ name }: typeof form.values) => {
      const workspace = await send(name)
      await queryClient.invalidateQueries(sessionQuery)
      return workspace
    },
    onSuccess: onSent,
    onError: (error) =>
      form.setErrors(
        codeOf(error) === 'workspace_exists'
          ? { name: 'There is a workspace of this name' }
          : fieldErrors(error),
      ),
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description={description}
          autoComplete="off"
          maxLength={nameLimit}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        {codeOf(save.error) !== 'workspace_exists' && <ProblemAlert error={save.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
