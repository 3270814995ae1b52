import { Modal } from '@mantine/core'
import { useNavigate } from 'react-router'
import { taken } from '../problem.ts'
import { useCairn, useMembership } from '../session/session.ts'
import { WorkspaceArchiving } from './workspace-archiving.tsx'
import { WorkspaceNameForm } from './workspace-name-form.tsx'
import { WorkspaceProtection } from './workspace-protection.tsx'
import { WorkspaceRemoval } from './workspace-removal.tsx'
import { WorkspaceRetention } from './workspace-retention.tsx'
import { WorkspaceUnknownEvents } from './workspace-unknown-events.tsx'
import { WorkspaceViewLinks } from './workspace-view-links.tsx'

/** The actions of owners on the workspace in the URL; `create` makes another one. */
export type WorkspaceAction =
  | 'rename'
  | 'retention'
  | 'protection'
  | 'unknown-events'
  | 'view-links'
  | 'archive'
  | 'remove'
  | 'create'

type DialogProps = { opened: boolean; onClose: () => void }

/** The dialog of an action. */
export function WorkspaceDialog({ action, ...props }: DialogProps & { action: WorkspaceAction }) {
  switch (action) {
    case 'rename':
      return <RenameWorkspaceDialog {...props} />
    case 'retention':
      return <RetentionDialog {...props} />
    case 'protection':
      return <ProtectionDialog {...props} />
    case 'unknown-events':
      return <UnknownEventsDialog {...props} />
    case 'view-links':
      return <ViewLinksDialog {...props} />
    case 'archive':
      return props.opened && <WorkspaceArchiving onClose={props.onClose} />
    case 'remove':
      return props.opened && <WorkspaceRemoval onClose={props.onClose} />
    case 'create':
      return <NewWorkspaceDialog {...props} />
  }
}

/** Creates a workspace and opens it. */
function NewWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const navigate = useNavigate()
  return (
    <Modal opened={opened} onClose={onClose} title="Create workspace">
      <WorkspaceNameForm
        description="A workspace has its own journeys, service keys, customers and members. You will be its owner."
        initialName=""
        submitLabel="Create workspace"
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
    <Modal opened={opened} onClose={onClose} title="Rename workspace">
      <WorkspaceNameForm
        description="All members see the new name immediately. Service keys and links keep working."
        initialName={name}
        submitLabel="Rename"
        send={(name) => taken(cairn.updateWorkspace({ body: { name } }))}
        onSent={onClose}
        onCancel={onClose}
      />
    </Modal>
  )
}

/** Shows and changes the event retention of the workspace in the URL. */
function RetentionDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Event retention">
      <WorkspaceRetention onSaved={onClose} />
    </Modal>
  )
}

/** Shows and changes whether customers of the workspace in the URL are protected from publishable keys. */
function ProtectionDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Customer protection">
      <WorkspaceProtection />
    </Modal>
  )
}

/** Shows and changes what happens to events without a definition in the workspace in the URL. */
function UnknownEventsDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Events without a definition">
      <WorkspaceUnknownEvents onSaved={onClose} />
    </Modal>
  )
}

/** Shows and changes whether links to views of the workspace in the URL work. */
function ViewLinksDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Links to views">
      <WorkspaceViewLinks />
    </Modal>
  )
}
