import { Button } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { onDemand } from '../parts/on-demand.tsx'
import { visibleName } from '../parts/visible-name.ts'

// Rarely needed.
const RemoveJourneyDialog = onDemand(() =>
  import('./remove-journey-dialog.tsx').then((module) => module.RemoveJourneyDialog),
)

/** Removes an archived journey, after confirmation. */
export function RemoveJourneyButton({ journey }: { journey: Schemas['Journey'] }) {
  /** How often the dialog was opened; as its key, this resets the dialog each time. */
  const [asked, setAsked] = useState(0)
  const [isAsking, setIsAsking] = useState(false)
  const ask = () => {
    setAsked(asked + 1)
    setIsAsking(true)
  }
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconTrash size={16} aria-hidden />}
        aria-label={`Remove ${visibleName(journey.name, journey.journey_id)}`}
        onClick={ask}
      >
        Remove…
      </Button>
      {asked > 0 && (
        <RemoveJourneyDialog
          key={asked}
          journey={journey}
          opened={isAsking}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  )
}
