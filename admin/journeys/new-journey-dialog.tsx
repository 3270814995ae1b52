import { Modal } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { Loading } from '../parts/loading.tsx'
import { onDemand } from '../parts/on-demand.tsx'

// Loaded with the first dialog, to keep the list of journeys, which is the first screen for many, small.
const NewJourneyForm = onDemand(
  () => import('./new-journey-form.tsx').then((module) => module.NewJourneyForm),
  () => <Loading />,
)

/** Creates a journey with a name and a description; its steps are defined on its settings page. */
export function NewJourneyDialog({
  opened,
  onClose,
  onCreated,
}: {
  opened: boolean
  onClose: () => void
  onCreated: (journey: Schemas['Journey']) => void
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create journey">
      <NewJourneyForm onClose={onClose} onCreated={onCreated} />
    </Modal>
  )
}
