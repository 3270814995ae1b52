import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { cairnFor } from '../cairn.ts'
import { givenNameFault, nameLimit } from '../parts/forms/field-faults.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { fieldErrors, taken } from '../problem.ts'
import { sessionQuery, useSession } from '../session/session.ts'

/** Changes the person's own name. */
export function NameForm() {
  const { person } = useSession()
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { name: person.name },
    validate: { name: (value) => givenNameFault(value, 'Enter your name') },
  })
  const change = useMutation({
    mutationFn: (body: typeof form.values) => taken(cairnFor().changeName({ body })),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      form.resetDirty({ name: session.person.name })
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <Stack maw="26rem">
        <TextInput
          label="Name"
          description="Shown to other members in all your workspaces."
          autoComplete="name"
          maxLength={nameLimit}
          required
          {...form.getInputProps('name')}
        />
        <ProblemAlert error={change.error} />
        <div role="status">{change.isSuccess && !form.isDirty() && <Text size="sm">Name changed.</Text>}</div>
        <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
          Change name
        </Button>
      </Stack>
    </form>
  )
}
