import { useRef } from 'react'
import type { Schemas } from '../../client/person.ts'
import { ReportComparison } from './report-comparison.tsx'
import { ReportGroups } from './report-groups.tsx'

/** What a report compares: another period, and groups. */
export function ReportComparisons({
  report,
  breakdown,
  hasWindow,
  isOutdated = false,
}: {
  report: Schemas['JourneyReport']
  breakdown: string
  hasWindow: boolean
  /** Whether the report is that of the filters before, and the one of these is loading. */
  isOutdated?: boolean
}) {
  const shown = useRef(breakdown)
  if (!isOutdated) shown.current = breakdown
  return (
    <>
      {report.comparison && (
        <ReportComparison report={report} comparison={report.comparison} hasWindow={hasWindow} />
      )}
      {report.groups && <ReportGroups report={report} breakdown={shown.current || breakdown} />}
    </>
  )
}
