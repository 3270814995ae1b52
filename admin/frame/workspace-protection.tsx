import '@mantine/core/styles/Switch.css'
import { List, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** Whether publishable keys can neither rename customers of the workspace in the URL nor find out who is one. */
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
      void notify(saved.protect_customers ? 'Protection turned on.' : 'Protection turned off.')
    },
  })
  if (error) return <ProblemAlert error={error} onRetry={() => refetch()} />
  if (!data) return <Loading lines={3} />
  return (
    <Stack gap="sm">
      <Text size="sm">
        Anyone can read a publishable key in your page and use it to register customers and send events. The
        key does not prove who a visitor is.
      </Text>
      <Switch
        label="Protect customers from publishable keys"
        checked={data.protect_customers}
        disabled={saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      <List size="sm" spacing={4}>
        <List.Item>
          On: publishable keys cannot rename existing customers, or find out who is a customer.
        </List.Item>
        <List.Item>
          Off: publishable keys can rename customers, and responses (including dry runs) reveal who is a
          customer and who was erased.
        </List.Item>
        <List.Item>
          Either way, erased customers cannot be registered again. Secret keys are not affected.
        </List.Item>
      </List>
      <ProblemAlert error={saving.error} />
    </Stack>
  )
}
