import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconArchive, IconArchiveOff } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { taken } from '../problem.ts'
import { useCairn, useWorkspaceKey } from '../session/session.ts'

/** Archives an active journey and restores an archived one, after saying what that means. */
export function JourneyStatusButton({ journey }: { journey: Schemas['Journey'] }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const journeysKey = useWorkspaceKey('journeys')
  const [isAsking, setIsAsking] = useState(false)
  const { journey_id, name, status } = journey
  const isActive = status === 'active'
  const change = useMutation({
    mutationFn: () => {
      const request = { path: { journey_id } }
      return taken(isActive ? cairn.archiveJourney(request) : cairn.restoreJourney(request))
    },
    onSuccess: () => {
      setIsAsking(false)
      notifications.show({
        message: isActive ? `${name} is archived.` : `${name} is active again.`,
        withCloseButton: false,
      })
      void queryClient.invalidateQueries({ queryKey: journeysKey })
    },
  })
  const label = isActive ? 'Archive' : 'Restore'

  function ask() {
    change.reset()
    setIsAsking(true)
  }

  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={
          isActive ? <IconArchive size={16} aria-hidden /> : <IconArchiveOff size={16} aria-hidden />
        }
        aria-label={`${label} ${name}`}
        onClick={ask}
      >
        {label}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={`${label} ${name}?`}
        confirmLabel={`${label} journey`}
        pending={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate()}
      >
        {isActive
          ? 'It takes no new customers and events: programs that send to it are refused. What it holds stays readable, and it can be restored at any time.'
          : 'It takes customers and events again.'}
      </ConfirmDialog>
    </>
  )
}
