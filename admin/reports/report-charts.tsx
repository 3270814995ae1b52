import type { Schemas } from '../../client/person.ts'
import { JourneyTrendSection } from './journey-trend.tsx'
import type { ChartQuery } from './report-filters.ts'
import { StepTimesSection } from './step-times.tsx'

/** A journey's conversion over time, and the times between its steps. */
export function ReportCharts(props: { report: Schemas['JourneyReport']; query: ChartQuery }) {
  return (
    <>
      <JourneyTrendSection {...props} />
      <StepTimesSection {...props} />
    </>
  )
}
