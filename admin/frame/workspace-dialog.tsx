import { Modal } from '@mantine/core'
import { useNavigate } from 'react-router'
import { taken } from '../problem.ts'
import { useCairn, useMembership } from '../session/session.ts'
import { WorkspaceArchiving } from './workspace-archiving.tsx'
import { WorkspaceNameForm } from './workspace-name-form.tsx'
import { WorkspaceProtection } from './workspace-protection.tsx'
import { WorkspaceRemoval } from './workspace-removal.tsx'
import { WorkspaceRetention } from './workspace-retention.tsx'

/** What owners do about the workspace in the URL; `make`: another one. */
export type WorkspaceAction = 'rename' | 'keep' | 'protect' | 'archive' | 'remove' | 'make'

type DialogProps = { opened: boolean; onClose: () => void }

/** The dialog of an action. */
export function WorkspaceDialog({ action, ...props }: DialogProps & { action: WorkspaceAction }) {
  switch (action) {
    case 'rename':
      return <RenameWorkspaceDialog {...props} />
    case 'keep':
      return <RetentionDialog {...props} />
    case 'protect':
      return <ProtectionDialog {...props} />
    case 'archive':
      return props.opened && <WorkspaceArchiving onClose={props.onClose} />
    case 'remove':
      return props.opened && <WorkspaceRemoval onClose={props.onClose} />
    case 'make':
      return <NewWorkspaceDialog {...props} />
  }
}

/** Makes a workspace and opens it. */
function NewWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const navigate = useNavigate()
  return (
    <Modal opened={opened} onClose={onClose} title="New workspace">
      <WorkspaceNameForm
        description="It has journeys, keys, customers and members of its own; you will own it."
        initialName=""
        submitLabel="Make the workspace"
        send={(name) => taken(cairn.createWorkspace({ body: { name } }))}
        onSent={async ({ workspace_id }) => {
          onClose()
          await navigate(`/w/${workspace_id}/journeys`)
        }}
        onCancel={onClose}
      />
    </Modal>
  )
}

/** Renames the workspace in the URL. */
function RenameWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const { name } = useMembership()
  return (
    <Modal opened={opened} onClose={onClose} title="Rename the workspace">
      <WorkspaceNameForm
        description="Its members see the new name at once. Keys and links go on working."
        initialName={name}
        submitLabel="Rename"
        send={(name) => taken(cairn.updateWorkspace({ body: { name } }))}
        onSent={onClose}
        onCancel={onClose}
      />
    </Modal>
  )
}

/** Says and changes for how long the workspace in the URL keeps events. */
function RetentionDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="How long events are kept">
      <WorkspaceRetention onSaved={onClose} />
    </Modal>
  )
}

/** Says and changes what publishable keys may do about customers of the workspace in the URL. */
function ProtectionDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="What publishable keys can do">
      <WorkspaceProtection />
    </Modal>
  )
}
