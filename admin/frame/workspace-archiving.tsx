import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { notify } from '../parts/notify.ts'
import { visibleName } from '../parts/visible-name.ts'
import { taken } from '../problem.ts'
import { sessionQuery, useCairn, useMembership } from '../session/session.ts'

/** Archives an active workspace or restores an archived one, after confirmation. */
export function WorkspaceArchiving({ onClose }: { onClose: () => void }) {
  const cairn = useCairn()
  const queryClient = useQueryClient()
  const { workspace_id, name: givenName, status } = useMembership()
  const name = visibleName(givenName, workspace_id)
  // Fixed when the dialog opens: its texts must not change while it closes.
  const [isActive] = useState(status === 'active')
  const change = useMutation({
    mutationFn: () => taken(isActive ? cairn.archiveWorkspace() : cairn.restoreWorkspace()),
    onSuccess: async () => {
      await queryClient.invalidateQueries(sessionQuery)
      void notify(isActive ? `${name} archived.` : `${name} restored.`)
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
        ? 'Its journeys will accept no new customers or events: requests to them are rejected. All data stays readable, and you can restore the workspace at any time.'
        : 'Its active journeys will accept customers and events again.'}
    </ConfirmDialog>
  )
}
