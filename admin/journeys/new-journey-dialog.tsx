import { Modal } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { Schemas } from '../../client/person.ts'
import { Loading } from '../parts/loading.tsx'

// With the first dialog: the list of journeys, which is the first screen of many, does without.
const NewJourneyForm = lazy(() =>
  import('./new-journey-form.tsx').then((module) => ({ default: module.NewJourneyForm })),
)

/** Makes a journey with a name and a description; its steps are defined on its own page. */
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
    <Modal opened={opened} onClose={onClose} title="Create a journey" closeOnClickOutside={false}>
      <Suspense fallback={<Loading />}>
        <NewJourneyForm onClose={onClose} onCreated={onCreated} />
      </Suspense>
    </Modal>
  )
}
