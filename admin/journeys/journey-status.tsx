import { Button, Menu } from '@mantine/core'
import { IconArchive, IconArchiveOff, IconSend } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { RowMenu } from '../parts/lists/row-menu.tsx'
import { notify } from '../parts/notify.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'

type JourneyProps = { journey: Schemas['Journey'] }

/** Archives an active journey or restores an archived one, after confirmation. */
export function JourneyStatusButton({ journey }: JourneyProps) {
  const { label, name, icon, ask, dialog } = useStatusChange(journey)
  return (
    <>
      <Button variant="default" size="xs" leftSection={icon} aria-label={`${label} ${name}`} onClick={ask}>
        {label}
      </Button>
      {dialog}
    </>
  )
}

/** The menu of actions on a journey in the list. */
export function JourneyMenu({ journey }: JourneyProps) {
  const { workspace_id } = useMembership()
  const { label, name, icon, ask, dialog } = useStatusChange(journey)
  return (
    <>
      <RowMenu name={name}>
        {journey.status === 'active' && (
          <Menu.Item
            component={Link}
            to={`/w/${workspace_id}/first-event?journey=${journey.journey_id}`}
            leftSection={<IconSend size={16} aria-hidden />}
          >
            Send an event
          </Menu.Item>
        )}
        <Menu.Item leftSection={icon} onClick={ask}>
          {label}
        </Menu.Item>
      </RowMenu>
      {dialog}
    </>
  )
}

function useStatusChange({ journey_id, name: chosenName, status }: Schemas['Journey']) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const journeysKey = useWorkspaceKey('journeys')
  const [isAsking, setIsAsking] = useState(false)
  // Fixed when the dialog opens: somebody else may archive or restore the journey meanwhile, and the dialog must not ask the
  // opposite.
  const [isArchiving, setIsArchiving] = useState(false)
  const name = visibleName(chosenName, journey_id)
  const isActive = status === 'active'
  const change = useMutation({
    mutationFn: () => {
      const request = { path: { journey_id } }
      return taken(isArchiving ? cairn.archiveJourney(request) : cairn.restoreJourney(request))
    },
    onSuccess: () => {
      setIsAsking(false)
      void notify(isArchiving ? `${name} archived.` : `${name} restored.`)
      void queryClient.invalidateQueries({ queryKey: journeysKey })
    },
  })

  function ask() {
    change.reset()
    setIsArchiving(isActive)
    setIsAsking(true)
  }

  const dialog = (
    <ConfirmDialog
      opened={isAsking}
      onClose={() => setIsAsking(false)}
      title={`${labelOf(isArchiving)} ${name}?`}
      confirmLabel={`${labelOf(isArchiving)} journey`}
      pending={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
    >
      {isArchiving
        ? 'The journey will accept no new customers or events: requests to it are rejected. Its data stays readable, and you can restore it at any time.'
        : 'The journey will accept customers and events again.'}
    </ConfirmDialog>
  )
  const icon = isActive ? <IconArchive size={16} aria-hidden /> : <IconArchiveOff size={16} aria-hidden />
  return { label: labelOf(isActive), name, icon, ask, dialog }
}

function labelOf(isArchiving: boolean): string {
  return isArchiving ? 'Archive' : 'Restore'
}
