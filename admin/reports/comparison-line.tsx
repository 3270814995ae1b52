import type { Schemas } from '../../client/person.ts'
import { FieldsPopover } from '../parts/filters/fields-popover.tsx'
import { type Chip, rangeText } from '../parts/filters/filter-line.tsx'
import type { ReportFilters } from './report-filters.ts'

type Steps = Schemas['JourneySteps']

/** The buttons of the filter line that break a report down and compare it. */
export function ComparisonButtons({ filters, steps }: { filters: ReportFilters; steps: Steps }) {
  return (
    <>
      <FieldsPopover
        label="Break down"
        load={async () => (await import('./breakdown-fields.tsx')).BreakdownFields}
        fields={{ filters, steps }}
      />
      <FieldsPopover
        label="Compare"
        load={async () => (await import('./compare-fields.tsx')).CompareFields}
        fields={{ filters }}
      />
    </>
  )
}

/** What a report is broken down by and compared with, in words. */
export function comparisonChips({ values, set, setAll }: ReportFilters): Chip[] {
  const { breakdown, compare, compare_from, compare_to } = values
  const [, variable] = breakdown.split(/^variable:/)
  const compared = {
    '': '',
    previous_period: 'previous period',
    previous_year: 'a year earlier',
    custom: compare_from || compare_to ? rangeText(compare_from, compare_to) : 'custom period',
  }
  return [
    breakdown !== '' && {
      key: 'breakdown',
      name: 'by',
      text: variable ?? 'customer type',
      onRemove: () => set('breakdown', ''),
    },
    compare !== '' && {
      key: 'compare',
      name: 'compared with',
      text: compared[compare as keyof typeof compared],
      onRemove: () => setAll({ compare: '', compare_from: '', compare_to: '' }),
    },
  ].filter((chip) => chip !== false)
}
