import { Modal } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Loading } from '../parts/loading.tsx'

// Loaded with the first dialog, to keep the list of journeys, which is the first screen for many, small.
const NewJourneyForm = lazy(() =>
  import('./new-journey-form.tsx').then((module) => ({ default: module.NewJourneyForm })),
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
    <Modal opened={opened} onClose={onClose} title="Create journey" closeOnClickOutside={false}>
      <Suspense fallback={<Loading />}>
        <NewJourneyForm onClose={onClose} onCreated={onCreated} />
      </Suspense>
    </Modal>
  )
}
