import { NativeSelect, Stack, Text } from '@mantine/core'
import { InstantField } from '../parts/filters/instant-field.tsx'
import { timeZoneText } from '../parts/instants/time-zone.ts'
import type { ReportFilters } from './report-filters.ts'

/** The period that the report is compared with. */
export function CompareFields({ filters: { values, set, setAll } }: { filters: ReportFilters }) {
  const { compare, compare_from, compare_to, last, entered_from } = values
  function choose(compare: string) {
    // A period before another one needs the start of that one.
    const needsStart = compare !== '' && compare !== 'custom' && !last && !entered_from
    const own = compare !== 'custom' && { compare_from: '', compare_to: '' }
    setAll({ compare, ...own, ...(needsStart && { last: '30', entered_to: '' }) })
  }
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Compare with"
        value={compare}
        onChange={(change) => choose(change.currentTarget.value)}
        data={[
          { value: '', label: 'Nothing' },
          { value: 'previous_period', label: 'Previous period' },
          { value: 'previous_year', label: 'Same period a year earlier' },
          { value: 'custom', label: 'Custom period…' },
        ]}
      />
      {compare === 'custom' && (
        <>
          <InstantField
            label="Compared from"
            value={compare_from}
            onChange={(from) => set('compare_from', from)}
          />
          <InstantField
            label="Compared before"
            value={compare_to}
            after={compare_from}
            onChange={(to) => set('compare_to', to)}
          />
          <Text size="xs">{timeZoneText()}</Text>
        </>
      )}
    </Stack>
  )
}
