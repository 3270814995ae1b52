import './events.css'
import type { ReactNode } from 'react'
import { type Chip, FilterLine } from '../parts/filters/filter-line.tsx'
import { lastSpans, type SpanFilters } from './span.ts'

/**
 * The filters of a list of events, or of rejected requests, in one line that starts with the time range.
 * @param by what the span applies to
 * @param end shown at the end of the line
 */
export function SpanFilterLine({
  spans,
  by = 'Received',
  ...line
}: {
  label: string
  spans: SpanFilters
  by?: 'Received' | 'Occurred'
  chips: readonly Chip[]
  fields: ReactNode
  end?: ReactNode
}) {
  const { last, received_from, received_to } = spans.values
  return (
    <FilterLine
      {...line}
      range={{
        presets: lastSpans.map(({ value, label }) => ({ value, label })),
        preset: last,
        by,
        from: received_from,
        to: received_to,
        onPreset: (value) => spans.setAll({ last: value, received_from: '', received_to: '' }),
        onFrom: (value) => spans.set('received_from', value),
        onTo: (value) => spans.set('received_to', value),
      }}
    />
  )
}
