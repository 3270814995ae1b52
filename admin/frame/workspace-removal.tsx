import { Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { useTypedName } from '../parts/forms/typed-name.tsx'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { countOf } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { sessionQuery, useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

/** Removes the archived workspace in the URL with all its data, after showing how much that is and asking for its name. */
export function WorkspaceRemoval({ onClose }: { onClose: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { workspace_id, name } = useMembership()
  const shown = visibleName(name, workspace_id)
  const typedName = useTypedName(shown)
  const request = { body: { name } }
  const workspaceKey = useWorkspaceKey()
  const tried = useQuery({
    queryKey: useWorkspaceKey('workspace-removal'),
    queryFn: ({ signal }) => taken(cairn.removeWorkspace({ ...request, query: { dry_run: true }, signal })),
    gcTime: 0,
  })
  const remove = useMutation({
    mutationFn: () => taken(cairn.removeWorkspace(request)),
    onSuccess: async () => {
      // In one step, so that the removed workspace is never shown.
      queryClient.setQueryData(sessionQuery.queryKey, (session) => {
        const isOther = (other: { workspace_id: string }) => other.workspace_id !== workspace_id
        return session && { ...session, workspaces: session.workspaces.filter(isOther) }
      })
      await navigate('/')
      void notify('Workspace removed.')
      queryClient.removeQueries({ queryKey: workspaceKey })
    },
  })
  const { data } = tried
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Remove ${shown}?`}
      confirmLabel="Remove workspace"
      danger
      disabled={!typedName.isTyped || !data}
      pending={remove.isPending}
      error={remove.error ?? tried.error}
      onConfirm={() => remove.mutate()}
    >
      <Stack gap="sm">
        {data ? (
          <Text size="sm">
            This permanently deletes {data.more_customers && 'more than '}
            {countOf(data.customers, 'customer')}, {countOf(data.journeys, 'journey')},{' '}
            {data.more_events && 'more than '}
            {countOf(data.events, 'event')}, {countOf(data.keys, 'service key')},{' '}
            {countOf(data.members, 'membership')}, all reports and rejected requests, and the audit log.
            Members keep their accounts.
          </Text>
        ) : (
          !tried.error && <Loading lines={2} />
        )}
        {typedName.field}
      </Stack>
    </ConfirmDialog>
  )
}
