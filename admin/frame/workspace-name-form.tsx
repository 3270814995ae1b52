import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { givenNameFault, nameLimit } from '../parts/forms/field-faults.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, fieldErrors } from '../problem.ts'
import { sessionQuery } from '../session/session.ts'

/** A form for the name of a workspace. */
export function WorkspaceNameForm({
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
  /** Called when the session includes the workspace, unless the form was closed. */
  onSent: (workspace: Schemas['Membership']) => void
  onCancel: () => void
}) {
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { name: initialName },
    validate: { name: (value) => givenNameFault(value, 'Enter a name') },
  })
  const save = useMutation({
    mutationFn: async ({ name }: typeof form.values) => {
      const workspace = await send(name)
      await queryClient.invalidateQueries(sessionQuery)
      return workspace
    },
    onError: (error) =>
      form.setErrors(
        codeOf(error) === 'workspace_exists'
          ? { name: 'A workspace with this name already exists' }
          : fieldErrors(error),
      ),
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => save.mutate(values, { onSuccess: onSent }))}>
      <Stack>
        <TextInput
          label="Name"
          description={description}
          autoComplete="off"
          maxLength={nameLimit}
          required
          autoFocus
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
