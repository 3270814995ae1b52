import type { Schemas } from '../../client/person.ts'
import { JourneyTrendSection } from './journey-trend.tsx'
import type { ReportQuery } from './report-filters.tsx'
import { StepTimesSection } from './step-times.tsx'

/** How a journey goes over time, and how long its steps take. */
export function ReportCharts(props: { report: Schemas['JourneyReport']; query: ReportQuery }) {
  return (
    <>
      <JourneyTrendSection {...props} />
      <StepTimesSection {...props} />
    </>
  )
}
