import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Switch.css'
import { Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { useWorkspace } from '../session/workspace.ts'

type Props = {
  label: string
  /** Why one would turn it on. */
  reason: ReactNode
  isOn: (workspace: Schemas['Workspace']) => boolean
  change: (isOn: boolean) => Schemas['WorkspaceUpdate']
  /** What is said when it was turned `on` or `off`, such as `Links turned on.` */
  subject: string
  /** What on and off mean. */
  children: ReactNode
}

/** A setting of the workspace in the URL that is on or off. */
export function WorkspaceSetting({ label, reason, isOn, change, subject, children }: Props) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('workspace')
  const { data, error, refetch } = useWorkspace()
  const saving = useMutation({
    mutationFn: (on: boolean) => taken(cairn.updateWorkspace({ body: change(on) })),
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKey, saved)
      void notify(`${subject} turned ${isOn(saved) ? 'on' : 'off'}.`)
    },
  })
  if (error) return <ProblemAlert error={error} onRetry={() => refetch()} />
  if (!data) return <Loading lines={3} />
  return (
    <Stack gap="sm">
      <Text size="sm">{reason}</Text>
      <Switch
        label={label}
        checked={isOn(data)}
        disabled={saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      {children}
      <ProblemAlert error={saving.error} />
    </Stack>
  )
}
