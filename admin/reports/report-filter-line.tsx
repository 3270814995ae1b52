import { NativeSelect } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { ClearFiltersButton } from '../parts/filters/clear-filters-button.tsx'
import { type Chip, FilterLine } from '../parts/filters/filter-line.tsx'
import { durationText, lengthOf } from '../parts/instants/duration-text.ts'
import { onDemand } from '../parts/on-demand.tsx'
import type { ReportFilters } from './report-filters.ts'

// Rarely needed.
const OwnWindowField = onDemand(() =>
  import('./own-window-field.tsx').then((module) => module.OwnWindowField),
)

// Loaded with the popover that shows them.
const PartFields = onDemand(() => import('./part-fields.tsx').then((module) => module.PartFields))
const VariableFields = onDemand(() => import('./variable-fields.tsx').then((module) => module.VariableFields))

const presets = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '', label: 'All' },
]

/**
 * The filters of a report, or of the customers of one of its numbers, in one line.
 * @param chips further filters that are set
 * @param fields further fields, above those of the report
 */
export function ReportFilterLine({
  label,
  steps,
  filters,
  chips,
  fields,
  more,
  end,
}: {
  label: string
  /** Those of the journey. */
  steps: Schemas['JourneySteps']
  filters: ReportFilters
  chips: readonly Chip[]
  fields?: ReactNode
  /** Shown after the button that opens the fields. */
  more?: ReactNode
  /** Shown before the button that clears the filters. */
  end?: ReactNode
}) {
  const { values, count, set, setAll, clear } = filters
  const { last, entered_from, entered_to, customer_type, window } = values
  const isUsual = presets.some(({ value }) => value === last)
  return (
    <FilterLine
      label={label}
      range={{
        presets: isUsual ? presets : [...presets, { value: last, label: `${last} days` }],
        preset: last,
        by: 'Entered',
        from: entered_from,
        to: entered_to,
        onPreset: (value) => setAll({ last: value, entered_from: '', entered_to: '' }),
        onFrom: (value) => setAll({ last: '', entered_from: value }),
        onTo: (value) => setAll({ last: '', entered_to: value }),
      }}
      chips={[...chips, ...filterChips(filters, steps)]}
      more={more}
      fields={
        <>
          {fields}
          <NativeSelect
            label="Customer type"
            value={customer_type}
            onChange={(change) => set('customer_type', change.currentTarget.value)}
            data={[
              { value: '', label: 'All' },
              { value: 'account', label: 'Accounts' },
              { value: 'contact', label: 'Contacts' },
            ]}
          />
          <WindowField value={window} onChange={(value) => set('window', value)} />
          <PartFields filters={filters} steps={steps} />
          <VariableFields filters={filters} steps={steps} />
        </>
      }
      end={
        <>
          {end}
          <ClearFiltersButton variant="subtle" size="compact-xs" count={count} onClear={clear} />
        </>
      }
    />
  )
}

/** The filters that are set, in words. */
function filterChips({ values, lists, set, setList }: ReportFilters, steps: Schemas['JourneySteps']): Chip[] {
  const { customer_type, window, first_step, last_step, step_order, touch } = values
  const chip = (name: keyof typeof values, label: string, text: string): Chip[] =>
    values[name] ? [{ key: name, name: label, text, onRemove: () => set(name, '') }] : []
  const stepName = (step: string) => `${step}. ${steps[Number(step) - 1]?.name}`
  return [
    ...chip('customer_type', 'type', customer_type),
    ...chip('window', 'window', durationText(lengthOf(window) ?? 0)),
    ...chip('first_step', 'from step', stepName(first_step)),
    ...chip('last_step', 'to step', stepName(last_step)),
    ...chip('step_order', 'order', step_order),
    ...chip(
      'touch',
      'value at',
      touch === 'first' || touch === 'last' ? `${touch} step reached` : stepName(touch),
    ),
    ...lists.variables.map((filter) => {
      const [name = ''] = filter.split(':', 1)
      const onRemove = () =>
        setList(
          'variables',
          lists.variables.filter((other) => other !== filter),
        )
      return { key: `variable ${filter}`, name, text: filter.slice(name.length + 1) || 'empty', onRemove }
    }),
  ]
}

const windows = [
  { value: '', label: 'No limit' },
  { value: 'P1D', label: '1 day' },
  { value: 'P7D', label: '7 days' },
  { value: 'P30D', label: '30 days' },
]

const own = 'own'

/** The conversion window: a preset, or a custom duration. */
function WindowField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [isOwn, setIsOwn] = useState(false)
  const isUsual = windows.some((window) => window.value === value)
  return (
    <>
      <NativeSelect
        label="Conversion window"
        description="Counted from a customer’s first step, for all steps"
        inputWrapperOrder={['label', 'input', 'description']}
        value={isOwn || !isUsual ? own : value}
        onChange={(change) => {
          const chosen = change.currentTarget.value
          setIsOwn(chosen === own)
          if (chosen !== own) onChange(chosen)
        }}
        data={[...windows, { value: own, label: 'Custom…' }]}
      />
      {(isOwn || !isUsual) && <OwnWindowField value={value} onChange={onChange} />}
    </>
  )
}
