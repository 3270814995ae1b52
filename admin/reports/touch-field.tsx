import { NativeSelect } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import type { ReportFilters } from './report-filters.ts'

/** Which event of a customer decides about its variables. */
export function TouchField({
  filters: { values, set },
  steps,
}: {
  filters: ReportFilters
  steps: Schemas['JourneySteps']
}) {
  return (
    <NativeSelect
      label="Value at"
      description="Variables are those of the event that reached this step"
      inputWrapperOrder={['label', 'input', 'description']}
      value={values.touch === 'first' ? '' : values.touch}
      onChange={(change) => set('touch', change.currentTarget.value)}
      data={[
        { value: '', label: 'First step' },
        { value: 'last', label: 'Last step reached' },
        ...steps.slice(1).map(({ name }, index) => ({
          value: String(index + 2),
          label: `${index + 2}. ${name}`,
        })),
      ]}
    />
  )
}
