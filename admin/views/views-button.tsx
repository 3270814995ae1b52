import { Button } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { onDemand } from '../parts/on-demand.tsx'

// Loaded when it is needed: the page of a report is at its size limit.
const ReportViews = onDemand(() => import('./report-views.tsx').then((module) => module.ReportViews))

/** Opens the views of a journey, and names the view that the report was opened as. */
export function ViewsButton({ journey_id }: { journey_id: string }) {
  const [opened, setOpened] = useState(false)
  const [search] = useSearchParams()
  return (
    <>
      {(opened || search.has('view')) && (
        <ReportViews journey_id={journey_id} opened={opened} onClose={() => setOpened(false)} />
      )}
      <Button variant="default" size="compact-xs" onClick={() => setOpened(true)}>
        Views
      </Button>
    </>
  )
}
