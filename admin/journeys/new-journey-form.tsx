import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { LostResponse } from '../parts/lost-response.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { customerMeaning, journeyMeaning } from '../parts/terms.ts'
import { fieldErrors, taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { journeyFaults } from './journey-draft.ts'

/** The form of `NewJourneyDialog`. */
export function NewJourneyForm({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (journey: Schemas['Journey']) => void
}) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const journeysKey = useWorkspaceKey('journeys')
  const form = useForm({
    initialValues: { name: '', description: '' },
    validate: (values) => journeyFaults({ ...values, steps: [] }),
  })
  const create = useMutation({
    mutationFn: (body: Schemas['JourneyCreation']) => taken(cairn.createJourney({ body })),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: journeysKey }),
    onError: (error) => form.setErrors(fieldErrors(error)),
  })

  return (
    // Not in the mutation itself: it opens nothing once the dialog is closed.
    <form noValidate onSubmit={form.onSubmit((values) => create.mutate(values, { onSuccess: onCreated }))}>
      <Stack>
        <Text size="sm">
          {journeyMeaning} {customerMeaning}
        </Text>
        <TextInput
          label="Name"
          autoComplete="off"
          description="You can change it later."
          withAsterisk
          autoFocus
          {...form.getInputProps('name')}
        />
        <Textarea
          label="Description"
          description="Optional. Explains the journey to your colleagues."
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
        <Text size="sm">You can define its steps on the next page.</Text>
        <ProblemAlert error={create.error} />
        <LostResponse error={create.error}>
          The journey may have been created all the same. Look for it in the list before you try again.
        </LostResponse>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          {/* Not offered again while the dialog closes or the page of the journey loads. */}
          <Button type="submit" loading={create.isPending || create.isSuccess}>
            Create journey
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
