import { Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { RetentionForm } from '../parts/forms/retention-form.tsx'
import { notify } from '../parts/notify.ts'
import { countOf } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'
import { useWorkspace } from '../session/workspace.ts'

/** The event retention of a journey. */
export function JourneyRetention({ journey }: { journey: Schemas['Journey'] }) {
  const { journey_id, retention_days } = journey
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('journeys')
  const workspace = useWorkspace()
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Retention
      </Title>
      <ProblemAlert error={workspace.error} onRetry={() => workspace.refetch()} />
      <RetentionForm
        days={retention_days}
        journeyId={journey_id}
        empty={emptyText(workspace.data)}
        save={(days) => taken(cairn.updateJourney({ path: { journey_id }, body: { retention_days: days } }))}
        onSaved={() => {
          void notify('Retention saved.')
          void queryClient.invalidateQueries({ queryKey })
        }}
      />
    </section>
  )
}

/** What happens without a period of the journey's own. The shorter of both periods applies (contract: Retention). */
function emptyText(workspace: Schemas['Workspace'] | undefined): string {
  if (!workspace) return 'use the period of the workspace'
  const { retention_days } = workspace
  if (retention_days === null) return 'keep events forever'
  return `use the period of the workspace, ${countOf(retention_days, 'day')}. A longer one has no effect`
}
