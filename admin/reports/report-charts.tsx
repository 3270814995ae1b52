import type { Schemas } from '../../client/person.ts'
import { JourneyTrendSection } from './journey-trend.tsx'
import type { ReportQuery } from './report-filters.tsx'
import { StepTimesSection } from './step-times.tsx'

/** A journey's conversion over time, and the times between its steps. */
export function ReportCharts(props: { report: Schemas['JourneyReport']; query: ReportQuery }) {
  return (
    <>
      <JourneyTrendSection {...props} />
      <StepTimesSection {...props} />
    </>
  )
}
