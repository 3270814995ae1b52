import { Modal } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useNavigate } from 'react-router'
import { Loading } from '../parts/loading.tsx'
import { taken } from '../problem.ts'
import { useCairn, useMembership } from '../session/session.ts'

// With the first dialog: every screen has the menu that opens it.
const NameForm = lazy(() =>
  import('./workspace-name-form.tsx').then((module) => ({ default: module.WorkspaceNameForm })),
)

const Retention = lazy(() =>
  import('./workspace-retention.tsx').then((module) => ({ default: module.WorkspaceRetention })),
)

const Archiving = lazy(() =>
  import('./workspace-archiving.tsx').then((module) => ({ default: module.WorkspaceArchiving })),
)

const Removal = lazy(() =>
  import('./workspace-removal.tsx').then((module) => ({ default: module.WorkspaceRemoval })),
)

type DialogProps = { opened: boolean; onClose: () => void }

/** Makes a workspace and opens it. */
export function NewWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const navigate = useNavigate()
  return (
    <Modal opened={opened} onClose={onClose} title="New workspace">
      <Suspense fallback={<Loading lines={2} />}>
        <NameForm
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
      </Suspense>
    </Modal>
  )
}

/** Renames the workspace in the URL. */
export function RenameWorkspaceDialog({ opened, onClose }: DialogProps) {
  const cairn = useCairn()
  const { name } = useMembership()
  return (
    <Modal opened={opened} onClose={onClose} title="Rename the workspace">
      <Suspense fallback={<Loading lines={2} />}>
        <NameForm
          description="Its members see the new name at once. Keys and links go on working."
          initialName={name}
          submitLabel="Rename"
          send={(name) => taken(cairn.updateWorkspace({ body: { name } }))}
          onSent={onClose}
          onCancel={onClose}
        />
      </Suspense>
    </Modal>
  )
}

/** Says and changes for how long the workspace in the URL keeps events. */
export function RetentionDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="How long events are kept">
      <Suspense fallback={<Loading lines={2} />}>
        <Retention onSaved={onClose} />
      </Suspense>
    </Modal>
  )
}

/** Archives the workspace in the URL, or restores it, after saying what that means. */
export function ArchivingDialog({ opened, onClose }: DialogProps) {
  return <Suspense>{opened && <Archiving onClose={onClose} />}</Suspense>
}

/** Removes the archived workspace in the URL, after a question. */
export function RemovalDialog({ opened, onClose }: DialogProps) {
  return <Suspense>{opened && <Removal onClose={onClose} />}</Suspense>
}
