import { Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { RetentionForm } from '../parts/forms/retention-form.tsx'
import { notify } from '../parts/notify.ts'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** The event retention of a journey. */
export function JourneyRetention({ journey }: { journey: Schemas['Journey'] }) {
  const { journey_id, retention_days } = journey
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const queryKey = useWorkspaceKey('journeys')
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Retention
      </Title>
      <RetentionForm
        days={retention_days}
        journeyId={journey_id}
        save={(days) => taken(cairn.updateJourney({ path: { journey_id }, body: { retention_days: days } }))}
        onSaved={() => {
          void notify('Retention saved.')
          void queryClient.invalidateQueries({ queryKey })
        }}
      />
    </section>
  )
}
