import { NativeSelect } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { FilterBar } from '../parts/filter-bar.tsx'
import { duration, instant, oneOf } from '../parts/filter-readers.ts'
import { type Filters, given, useFilters } from '../parts/filters.ts'
import { InstantField } from '../parts/instant-field.tsx'

// Few have a time limit of their own.
const OwnWindowField = lazy(() =>
  import('./own-window-field.tsx').then((module) => ({ default: module.OwnWindowField })),
)

/** How the filters of a report are read. */
export const reportReaders = {
  entered_from: instant,
  entered_to: instant,
  customer_type: oneOf(['account', 'contact']),
  window: duration,
}

/** The filters of a report by the names of the contract, so that an engineer can tell the request from the address. */
export type ReportFilterName = keyof typeof reportReaders

/** What an operation of reports is asked with. */
export type ReportQuery = {
  entered_from?: string
  entered_to?: string
  customer_type?: Schemas['CustomerType']
  window?: string
}

/** The filters of a report, which stand in the address. */
export function useReportFilters(): Filters<ReportFilterName> & { query: ReportQuery } {
  const filters = useFilters(reportReaders)
  return { ...filters, query: given(filters.values) }
}

/** The filters of a report as the query string of a link, with what else is given; '' for none. */
export function searchOf(query: ReportQuery & Record<string, string | number | undefined>): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`
}

/** The fields of the filters that a report and the lists behind its numbers share. */
export function ReportFilterFields({ filters }: { filters: Filters<ReportFilterName> }) {
  const { values, set } = filters
  return (
    <>
      <InstantField
        label="Entered from"
        value={values.entered_from}
        onChange={(value) => set('entered_from', value)}
      />
      <InstantField
        label="Entered before"
        value={values.entered_to}
        onChange={(value) => set('entered_to', value)}
      />
      <NativeSelect
        label="Type of customer"
        value={values.customer_type}
        onChange={(change) => set('customer_type', change.currentTarget.value)}
        data={[
          { value: '', label: 'All' },
          { value: 'account', label: 'Accounts' },
          { value: 'contact', label: 'Contacts' },
        ]}
      />
      <WindowField value={values.window} onChange={(value) => set('window', value)} />
    </>
  )
}

/** The fields that narrow a report. */
export function ReportFilterBar({ filters }: { filters: Filters<ReportFilterName> }) {
  return (
    <FilterBar label="Filter the report" count={filters.count} onClear={filters.clear}>
      <ReportFilterFields filters={filters} />
    </FilterBar>
  )
}

const windows = [
  { value: '', label: 'No time limit' },
  { value: 'P1D', label: '1 day' },
  { value: 'P7D', label: '7 days' },
  { value: 'P30D', label: '30 days' },
]

const own = 'own'

/** How long after the first step a step still counts: one of the usual lengths, or one of one's own. */
function WindowField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [isOwn, setIsOwn] = useState(false)
  const isUsual = windows.some((window) => window.value === value)
  return (
    <>
      <NativeSelect
        label="Time limit for all steps"
        description="Counted from a customer’s first step"
        inputWrapperOrder={['label', 'input', 'description']}
        value={isOwn || !isUsual ? own : value}
        onChange={(change) => {
          const chosen = change.currentTarget.value
          setIsOwn(chosen === own)
          if (chosen !== own) onChange(chosen)
        }}
        data={[...windows, { value: own, label: 'Another…' }]}
      />
      {(isOwn || !isUsual) && (
        <Suspense>
          <OwnWindowField value={value} onChange={onChange} />
        </Suspense>
      )}
    </>
  )
}
