import { NativeSelect, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { FilterField } from '../parts/filters/filter-field.tsx'
import { useObservedVariables } from './observed-variables.ts'
import type { ReportFilters } from './report-filters.ts'
import { TouchField } from './touch-field.tsx'

const prefix = 'variable:'
const other = 'other'

/** What the report is broken down by. The variables of the latest events are offered. */
export function BreakdownFields({
  filters,
  steps,
}: {
  filters: ReportFilters
  steps: Schemas['JourneySteps']
}) {
  const {
    values: { breakdown },
    setAll,
  } = filters
  const observed = useObservedVariables(steps[0]?.event_id ?? '')
  const [isOther, setIsOther] = useState(false)
  const isVariable = breakdown.startsWith(prefix)
  const name = isVariable ? breakdown.slice(prefix.length) : ''
  const isOffered = !isVariable || observed.some((variable) => variable.name === name)
  const set = (breakdown: string) => setAll({ breakdown, ...(!breakdown && { touch: '' }) })
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Break down by"
        value={isOther || !isOffered ? other : breakdown}
        onChange={(change) => {
          const chosen = change.currentTarget.value
          setIsOther(chosen === other)
          if (chosen !== other) set(chosen)
        }}
        data={[
          { value: '', label: 'Nothing' },
          { value: 'customer_type', label: 'Customer type' },
          ...observed.map(({ name, values }) => ({
            value: `${prefix}${name}`,
            label: values.length > 0 ? `${name} (${values.join(', ')})` : name,
          })),
          { value: other, label: 'Another variable…' },
        ]}
      />
      {(isOther || !isOffered) && (
        <FilterField
          label="Variable"
          description="A name in custom_variables, for example plan"
          monospace
          value={name}
          onChange={(name) => set(name && `${prefix}${[...name].slice(0, 100).join('')}`)}
        />
      )}
      {isVariable && <TouchField filters={filters} steps={steps} />}
    </Stack>
  )
}
