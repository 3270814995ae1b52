import { useQueryClient } from '@tanstack/react-query'
import { RetentionForm } from '../parts/forms/retention-form.tsx'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { useWorkspace } from '../session/workspace.ts'

/** The event retention of the workspace in the URL. */
export function WorkspaceRetention({ onSaved }: { onSaved: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('workspace')
  const { data, error, refetch } = useWorkspace()
  // What has been typed stays if a later read fails.
  if (!data) {
    return error ? <ProblemAlert error={error} onRetry={() => refetch()} /> : <Loading lines={2} />
  }
  return (
    <RetentionForm
      days={data.retention_days}
      save={(retention_days) => taken(cairn.updateWorkspace({ body: { retention_days } }))}
      onSaved={() => {
        void notify('Retention saved.')
        void queryClient.invalidateQueries({ queryKey })
        onSaved()
      }}
    />
  )
}
