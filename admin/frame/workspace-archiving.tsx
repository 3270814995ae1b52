import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { notify } from '../parts/notify.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { sessionQuery, useCairn, useMembership } from '../session/session.ts'

/** Archives an active workspace and restores an archived one, after saying what that means. */
export function WorkspaceArchiving({ onClose }: { onClose: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const { workspace_id, name: givenName, status } = useMembership()
  const name = visibleName(givenName, workspace_id)
  // What was asked for is shown until the dialog has gone, whatever the workspace is by then.
  const [isActive] = useState(status === 'active')
  const change = useMutation({
    mutationFn: () => taken(isActive ? cairn.archiveWorkspace() : cairn.restoreWorkspace()),
    onSuccess: async () => {
      await queryClient.invalidateQueries(sessionQuery)
      void notify(isActive ? `${name} is archived.` : `${name} is active again.`)
      onClose()
    },
  })
  const label = isActive ? 'Archive' : 'Restore'
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`${label} ${name}?`}
      confirmLabel={`${label} workspace`}
      pending={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
    >
      {isActive
        ? 'None of its journeys takes new customers and events: programs that send to it are refused. What it holds stays readable, and it can be restored at any time.'
        : 'Its active journeys take customers and events again.'}
    </ConfirmDialog>
  )
}
