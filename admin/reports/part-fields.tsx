import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/Checkbox.css'
import { Checkbox, NativeSelect } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import type { ReportFilters } from './report-filters.ts'

/** The part of the journey that is looked at: its first and its last step, and whether others may occur in between. */
export function PartFields({
  filters: { values, set },
  steps,
}: {
  filters: ReportFilters
  steps: Schemas['JourneySteps']
}) {
  const { first_step, last_step, step_order } = values
  const choices = steps.map(({ name }, index) => ({
    value: String(index + 1),
    label: `${index + 1}. ${name}`,
  }))
  const first = Number(first_step) || 1
  const last = Number(last_step) || steps.length
  return (
    <>
      <NativeSelect
        label="From step"
        description="Only customers who reached it count"
        inputWrapperOrder={['label', 'input', 'description']}
        value={first_step}
        onChange={(change) => set('first_step', change.currentTarget.value)}
        data={[{ value: '', label: 'Entry' }, ...choices.slice(0, Math.max(last, first))]}
      />
      <NativeSelect
        label="To step"
        value={last_step}
        onChange={(change) => set('last_step', change.currentTarget.value)}
        data={[{ value: '', label: 'Last step' }, ...choices.slice(Math.min(first, last) - 1)]}
      />
      <Checkbox
        label="Strict order"
        description="A step counts only if no other step happened before it"
        checked={step_order === 'strict'}
        onChange={(change) => set('step_order', change.currentTarget.checked ? 'strict' : '')}
      />
    </>
  )
}
