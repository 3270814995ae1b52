import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { MultiSelect, TagsInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useJourneyChoices } from '../journeys/journey-choices.ts'
import { useReceivedNames } from '../journeys/received-names.ts'
import { withoutKeys } from '../parts/filters/without-keys.ts'
import { nameLimit } from '../parts/forms/field-faults.ts'
import { type Choice, type ChoiceSource, more, optionList } from '../parts/forms/searched-select.tsx'

/** Maximum journeys, or events, of a webhook (contract: `WebhookJourneys`, `WebhookEvents`). */
const limit = 100

type FieldProps = {
  value: string[]
  onChange: (value: string[]) => void
  error?: ReactNode
}

/** The journeys that a webhook is told about; none for all. The server searches. */
export function JourneysField({ value, onChange, error }: FieldProps) {
  const source = useJourneyChoices()
  const [typed, setTyped] = useState('')
  const sought = withoutKeys(typed).trim()
  const [text] = useDebouncedValue(sought, 200)
  const found = useQuery({
    queryKey: [...source.key, 'found', text],
    queryFn: ({ signal }) => source.search(text || undefined, signal),
    placeholderData: keepPreviousData,
  })
  const chosen = useChosen(source, value)
  const groups = found.data ?? []
  const choices = new Map(
    [...chosen, ...groups.flatMap(({ items }) => items)].map((choice) => [choice.value, choice]),
  )
  const isSearching = text !== sought || found.isPending || found.isPlaceholderData
  return (
    <MultiSelect
      label="Journeys"
      description="Leave empty for all journeys."
      placeholder={value.length === 0 ? 'All journeys' : ''}
      searchable
      hidePickedOptions
      openOnFocus={false}
      maxValues={limit}
      maxLength={nameLimit}
      {...optionList}
      data={[...choices.values(), ...(groups.some(({ hasMore }) => hasMore) ? [more] : [])]}
      // The server has already filtered.
      filter={({ options }) => options}
      onSearchChange={setTyped}
      nothingFoundMessage={
        isSearching ? 'Searching…' : found.isError ? 'Search failed' : 'No journey with this name'
      }
      value={value}
      onChange={onChange}
      error={error}
    />
  )
}

/** Journeys that are already chosen, with their names once those have loaded. */
function useChosen(source: ChoiceSource, values: readonly string[]): Choice[] {
  const { data } = useQuery({
    queryKey: [...source.key, 'all chosen', values],
    queryFn: ({ signal }) => Promise.all(values.map((value) => source.find(value, signal))),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return values.map((value) => data?.find((choice) => choice?.value === value) ?? { value, label: value })
}

/** The names of the events that a webhook is told about; none for all. Suggests those of the last 30 days. */
export function EventsField({ value, onChange, error }: FieldProps) {
  const received = useReceivedNames()
  return (
    <TagsInput
      label="Events"
      description="Only events with these names (event_id); leave empty for all. Press Enter after each."
      placeholder={value.length === 0 ? 'All events' : ''}
      // A name may contain any character.
      splitChars={[]}
      maxTags={limit}
      maxLength={nameLimit}
      {...optionList}
      data={[...received.keys()]}
      acceptValueOnBlur
      value={value}
      onChange={onChange}
      error={error}
    />
  )
}
