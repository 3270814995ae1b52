import { SearchedSelect } from '../parts/forms/searched-select.tsx'
import { useJourneyChoices } from './journey-choices.ts'

/** Filters a list by a journey. `value` is '' for all journeys. */
export function JourneyFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <SearchedSelect
      label="Journey"
      source={useJourneyChoices()}
      value={value}
      onChange={onChange}
      placeholder="All journeys"
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the filter by journey' }}
      nothingFoundMessage="No journey with this name"
      unknownMessage="This workspace has no such journey."
    />
  )
}
