import { Stack, Text } from '@mantine/core'
import { type QueryKey, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { useTypedName } from '../parts/forms/typed-name.tsx'
import { Loading } from '../parts/loading.tsx'
import { notify } from '../parts/notify.ts'
import { countOf } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

/** Removes an archived journey with all its data, after showing how much that is and asking for its name. */
export function RemoveJourneyDialog({
  journey,
  opened,
  onClose,
}: {
  journey: Schemas['Journey']
  opened: boolean
  onClose: () => void
}) {
  const { journey_id, name } = journey
  const shown = visibleName(name, journey_id)
  const { workspace_id } = useMembership()
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const journeysKey = useWorkspaceKey('journeys')
  const typedName = useTypedName(shown)
  const request = { path: { journey_id }, body: { name } }
  const tried = useQuery({
    queryKey: useWorkspaceKey('journey-removal', journey_id),
    queryFn: ({ signal }) => taken(cairn.removeJourney({ ...request, query: { dry_run: true }, signal })),
    gcTime: 0,
  })
  const remove = useMutation({
    mutationFn: () => taken(cairn.removeJourney(request)),
    onSuccess: () => {
      void notify('Journey removed.')
      // Except for the queries of the page being left: they would be read again, and no longer exist.
      const isOfOthers = ({ queryKey }: { queryKey: QueryKey }) => !queryKey.includes(journey_id)
      void queryClient.resetQueries({ queryKey: journeysKey, predicate: isOfOthers })
    },
  })
  /** Not part of the mutation: it does not lead away from another page that was opened meanwhile. */
  async function leave() {
    onClose()
    await navigate(`/w/${workspace_id}/journeys`)
  }

  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Remove ${shown}?`}
      confirmLabel="Remove journey"
      danger
      disabled={!typedName.isTyped || !tried.data}
      pending={remove.isPending}
      error={remove.error ?? tried.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: leave })}
    >
      <Stack gap="sm">
        {tried.data ? (
          <Text size="sm">
            This permanently deletes the journey, its steps and reports, the entries of{' '}
            {countOf(tried.data.enrolments, 'customer')}, {tried.data.more_events && 'more than '}
            {countOf(tried.data.events, 'event')} and its rejected requests. Customers and their events in
            other journeys are kept.
          </Text>
        ) : (
          !tried.error && <Loading lines={2} />
        )}
        {typedName.field}
      </Stack>
    </ConfirmDialog>
  )
}
