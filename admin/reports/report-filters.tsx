import { NativeSelect } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { ClearFiltersButton } from '../parts/filters/clear-filters-button.tsx'
import { type Chip, FilterLine } from '../parts/filters/filter-line.tsx'
import { duration, type FilterReader, instant, oneOf } from '../parts/filters/filter-readers.ts'
import { type Filters, given, useFilters } from '../parts/filters/filters.ts'
import { durationText, lengthOf } from '../parts/instants/duration-text.ts'

// Rarely needed.
const OwnWindowField = lazy(() =>
  import('./own-window-field.tsx').then((module) => ({ default: module.OwnWindowField })),
)

/** A number of days. */
const days: FilterReader = {
  read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 400 ? text : undefined),
  form: 'a number of days from 1 to 400',
}

/**
 * How the filters of a report are read. They have the contract's names, so that engineers can derive the request from the
 * address; except `last`, a number of days that ends today.
 */
export const reportReaders = {
  last: days,
  entered_from: instant,
  entered_to: instant,
  customer_type: oneOf(['account', 'contact']),
  window: duration,
}

type ReportFilterName = keyof typeof reportReaders

/** The query of a report operation. */
export type ReportQuery = {
  entered_from?: string
  entered_to?: string
  customer_type?: Schemas['CustomerType']
  window?: string
}

/** The filters of a report, kept in the address, and the query that they result in. */
export function useReportFilters(): Filters<ReportFilterName> & { query: ReportQuery } {
  const filters = useFilters(reportReaders)
  const { last, ...others } = filters.values
  const isPreset = last && !others.entered_from && !others.entered_to
  return {
    ...filters,
    query: { ...given(others), ...(isPreset && { entered_from: startOfLast(Number(last)) }) },
  }
}

/** Midnight in the viewer's time zone, at the start of the given number of days, of which today is the last. */
function startOfLast(days: number): string {
  const today = new Date()
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - days + 1).toISOString()
}

/** The filters of a report as the query string of a link, with further parameters; '' for none. */
export function searchOf(query: ReportQuery & Record<string, string | number | undefined>): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`
}

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
  filters: { values, count, set, setAll, clear },
  chips = [],
  fields,
  end,
}: {
  label: string
  filters: Filters<ReportFilterName>
  chips?: readonly Chip[]
  fields?: ReactNode
  /** Shown before the button that clears the filters. */
  end?: ReactNode
}) {
  const { last, entered_from, entered_to, customer_type, window } = values
  const isUsual = presets.some(({ value }) => value === last)
  const ofReport: (Chip | false)[] = [
    customer_type !== '' && {
      key: 'type',
      name: 'type',
      text: customer_type,
      onRemove: () => set('customer_type', ''),
    },
    window !== '' && {
      key: 'window',
      name: 'window',
      text: durationText(lengthOf(window) ?? 0),
      onRemove: () => set('window', ''),
    },
  ]
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
      chips={[...chips, ...ofReport.filter((chip) => chip !== false)]}
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
      {(isOwn || !isUsual) && (
        <Suspense>
          <OwnWindowField value={value} onChange={onChange} />
        </Suspense>
      )}
    </>
  )
}
