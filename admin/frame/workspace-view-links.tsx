import '@mantine/core/styles/Switch.css'
import { Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** Whether people without an account can see views of the workspace in the URL by links. */
export function WorkspaceViewLinks() {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('workspace')
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => taken(cairn.getWorkspace({ signal })),
  })
  const saving = useMutation({
    mutationFn: (isOn: boolean) =>
      taken(cairn.updateWorkspace({ body: { view_links: isOn ? 'on' : 'off' } })),
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKey, saved)
      void notify(saved.view_links === 'on' ? 'Links turned on.' : 'Links turned off.')
    },
  })
  if (error) return <ProblemAlert error={error} onRetry={() => refetch()} />
  if (!data) return <Loading lines={3} />
  return (
    <Stack gap="sm">
      <Text size="sm">
        Owners and admins can create links by which people without an account see one view: its numbers, and
        no customer or event. Anyone who has a link sees them, until it expires or is revoked.
      </Text>
      <Switch
        label="Allow links to views"
        checked={data.view_links === 'on'}
        disabled={saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      <Text size="sm">Off: no link shows anything. On again: links that have not expired work again.</Text>
      <ProblemAlert error={saving.error} />
    </Stack>
  )
}
