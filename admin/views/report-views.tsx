import { Modal, Text } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { visibleName } from '../parts/visible-name.ts'
import { JourneyViews } from './journey-views.tsx'
import { firstChart, parametersOf, queryOf } from './view-address.ts'
import { useViews } from './views-query.ts'

/** The dialog with the views of a journey, and the name of the view that the report was opened as. */
export function ReportViews({
  journey_id,
  opened,
  onClose,
}: {
  journey_id: string
  opened: boolean
  onClose: () => void
}) {
  /** Whether a link is shown that cannot be shown again, or is about to be. */
  const [isHeld, setIsHeld] = useState(false)
  return (
    <>
      <OpenedView journey_id={journey_id} />
      <Modal
        opened={opened}
        onClose={onClose}
        title="Views of this journey"
        closeOnEscape={!isHeld}
        withCloseButton={!isHeld}
      >
        <JourneyViews journey_id={journey_id} onClose={onClose} onHold={setIsHeld} />
      </Modal>
    </>
  )
}

/** Says which view the report is, and whether its filters were changed since it was opened. */
function OpenedView({ journey_id }: { journey_id: string }) {
  const [search] = useSearchParams()
  const view = useViews(journey_id).data?.data.find(({ view_id }) => view_id === search.get('view'))
  if (!view) return null
  // What other charts show is no part of the view.
  const shownBy = (search: URLSearchParams) =>
    String(parametersOf(queryOf(search, view.query.chart ?? firstChart)))
  const isChanged = shownBy(search) !== shownBy(parametersOf(view.query))
  return (
    <Text size="sm" className="breakable">
      View: <b>{visibleName(view.name, view.view_id)}</b>
      {isChanged && ', changed since it was opened'}
    </Text>
  )
}
