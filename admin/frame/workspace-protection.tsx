import { List, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** Whether publishable keys neither rename customers of the workspace in the URL nor learn who is one. */
export function WorkspaceProtection() {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('workspace')
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => taken(cairn.getWorkspace({ signal })),
  })
  const saving = useMutation({
    mutationFn: (protect_customers: boolean) => taken(cairn.updateWorkspace({ body: { protect_customers } })),
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKey, saved)
      void notify(saved.protect_customers ? 'Customers are protected.' : 'Customers are not protected.')
    },
  })
  if (error) return <ProblemAlert error={error} onRetry={() => refetch()} />
  if (!data) return <Loading lines={3} />
  return (
    <Stack gap="sm">
      <Text size="sm">
        Anyone can read a publishable key in your page and use it elsewhere. With one, anyone can register
        customers and send events; nothing proves who a visitor is.
      </Text>
      <Switch
        label="Protect customers from publishable keys"
        checked={data.protect_customers}
        disabled={saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      <List size="sm" spacing={4}>
        <List.Item>
          On: a publishable key does not rename a known customer, and is not told who is known.
        </List.Item>
        <List.Item>
          Off: it renames customers, and its answers tell who is known and who was erased, also in a dry run.
        </List.Item>
        <List.Item>
          Either way, registering an erased customer is refused. Secret keys are not affected.
        </List.Item>
      </List>
      <ProblemAlert error={saving.error} />
    </Stack>
  )
}
