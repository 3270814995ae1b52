import type { Schemas } from '../../client/person.ts'
import { durationText } from '../parts/instants/duration-text.ts'
import { countText, shareText } from '../parts/number-text.ts'
import type { TextTable } from '../parts/output/table-text.ts'
import { isLaterPart } from './report-table.tsx'

/** A report as a table of text: a row for those who entered, unless it begins at a later step, and a row per step. */
export function reportRows({ enrolled, steps }: Schemas['JourneyReport']): TextTable {
  const isLater = isLaterPart(steps)
  const labels = ['Step', 'Event', 'Customers', isLater ? '% of first' : '% of entered', '% of previous']
  const more = ['Not continued', 'Dropped off', 'In progress', 'Median', '90% within']
  const length = (ms: number | null) => (ms === null ? '–' : durationText(ms))
  const count = (value: number | null) => (value === null ? '–' : countText(value))
  const entered = ['Entered', '', countText(enrolled), shareText(enrolled > 0 ? 1 : null), '–']
  return {
    columns: [...labels, ...more].map((label) => ({ key: label, label })),
    rows: [
      ...(isLater ? [] : [{ key: 'entered', cells: [...entered, '–', '–', '–', '–', '–'] }]),
      ...steps.map((step, index) => ({
        key: step.event_id,
        cells: [
          `${step.step}. ${step.name}`,
          step.event_id,
          countText(step.reached),
          shareText(step.of_enrolled),
          shareText(step.of_previous),
          isLater && index === 0 ? '–' : countText(step.not_reached),
          count(step.dropped),
          count(step.waiting),
          length(step.times.median_ms),
          length(step.times.p90_ms),
        ],
      })),
    ],
  }
}
