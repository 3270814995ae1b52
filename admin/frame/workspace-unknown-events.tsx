import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Radio.css'
import { Button, Group, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { useWorkspace } from '../session/workspace.ts'

type UnknownEvents = Schemas['UnknownEvents']

const choices: readonly { value: UnknownEvents; label: string; meaning: string }[] = [
  { value: 'allow', label: 'Allow', meaning: 'They are stored like all others.' },
  {
    value: 'warn',
    label: 'Warn',
    meaning: 'They are stored, and the response says that the name has no definition.',
  },
  {
    value: 'reject',
    label: 'Reject',
    meaning: 'They are rejected. You can replay them from the Rejected tab once the name is defined.',
  },
]

/** Edits what happens to events of the workspace in the URL whose name has no definition. */
export function WorkspaceUnknownEvents({ onSaved }: { onSaved: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('workspace')
  const { data, error, refetch } = useWorkspace()
  const [chosen, setChosen] = useState<UnknownEvents>()
  const saving = useMutation({
    mutationFn: (unknown_events: UnknownEvents) => taken(cairn.updateWorkspace({ body: { unknown_events } })),
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKey, saved)
      void notify('Events without a definition: setting saved.')
      onSaved()
    },
  })
  // What has been typed stays if a later read fails.
  if (!data) {
    return error ? <ProblemAlert error={error} onRetry={() => refetch()} /> : <Loading lines={3} />
  }
  const value = chosen ?? data.unknown_events
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (value === data.unknown_events) onSaved()
        else saving.mutate(value)
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          If every name has a definition, misspelt names can be found when they are sent. Choose what happens
          to new events whose name has no definition.
        </Text>
        <Radio.Group
          aria-label="Events without a definition"
          value={value}
          onChange={(value) => setChosen(value as UnknownEvents)}
        >
          <Stack gap="xs">
            {choices.map(({ value, label, meaning }) => (
              <Radio key={value} value={value} label={label} description={meaning} />
            ))}
          </Stack>
        </Radio.Group>
        <ProblemAlert error={saving.error} />
        <Group>
          <Button type="submit" variant="default" loading={saving.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
