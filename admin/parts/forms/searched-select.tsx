import { type ComboboxData, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, type QueryKey, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { withoutKeys } from '../filters/without-keys.ts'
import { nameLimit } from './field-faults.ts'

/** An option: its identifier and its label. */
export type Choice = { value: string; label: string }

/** Search results, with a heading if there are several kinds. */
type FoundChoices = { group?: string; items: Choice[]; hasMore: boolean }

/** Where the options of a select come from. */
export type ChoiceSource = {
  /** A query key unique to this source; starts with the workspace (`useWorkspaceKey`). */
  key: QueryKey
  /** The first matches of the typed text; without text, the first of all. */
  search(text: string | undefined, signal: AbortSignal): Promise<FoundChoices[]>
  /** The option of a value that is already selected; undefined if it does not exist. */
  find(value: string, signal: AbortSignal): Promise<Choice | undefined>
}

/**
 * A select for possibly thousands of options: the server searches for the trimmed text that is typed or pasted, only while the
 * list is open. Enter selects the first match. `value` is '' if nothing is selected; a selected value is shown even if it cannot
 * be found.
 */
export function SearchedSelect({
  source,
  value,
  known,
  unknownMessage,
  onChange,
  ...props
}: Pick<
  SelectProps,
  'label' | 'placeholder' | 'clearable' | 'clearButtonProps' | 'allowDeselect' | 'nothingFoundMessage' | 'maw'
> & {
  source: ChoiceSource
  value: string
  /** The selected option, if it is already known. */
  known?: Choice | undefined
  /** The message if `value` does not exist. */
  unknownMessage?: string
  onChange: (value: string) => void
}) {
  const queryClient = useQueryClient()
  const [opened, setOpened] = useState(false)
  const [typed, setTyped] = useState('')
  const sought = withoutKeys(typed).trim()
  const [settled] = useDebouncedValue(sought, 200)
  const chosenKey = (value: string) => [...source.key, 'chosen', value]
  const chosen = useQuery({
    queryKey: chosenKey(value),
    queryFn: value ? async ({ signal }) => (await source.find(value, signal)) ?? null : skipToken,
    enabled: known?.value !== value,
    staleTime: 60_000,
  })
  const isKnown = known?.value === value
  const isUnknown = value !== '' && !isKnown && chosen.data === null
  const choice = value ? ((isKnown ? known : chosen.data) ?? { value, label: value }) : undefined
  // The field shows the selected label until somebody types something else.
  const text = settled === choice?.label.trim() ? '' : settled
  const found = useQuery({
    queryKey: [...source.key, 'found', text],
    queryFn: ({ signal }) => source.search(text || undefined, signal),
    enabled: opened,
    placeholderData: keepPreviousData,
  })
  const groups = found.data ?? []
  const shown = new Set(groups.flatMap(({ items }) => items.map((item) => item.value)))
  const isHidden = choice !== undefined && !shown.has(choice.value)
  const isSearching = settled !== sought || found.isPending || found.isPlaceholderData
  const isFound = text !== '' && found.isSuccess && !isSearching
  const data: ComboboxData<string> = [
    // Mantine shows a selected value only if it is among the options.
    ...(isHidden ? [choice] : []),
    ...groups.flatMap<Choice | { group: string; items: Choice[] }>(({ group, items }) =>
      group ? [{ group, items }] : items,
    ),
    ...(groups.some(({ hasMore }) => hasMore) ? [more] : []),
  ]

  return (
    <Select<string>
      {...props}
      description={isUnknown ? unknownMessage : undefined}
      // Description below, so that the fields of a row align.
      inputWrapperOrder={['label', 'input', 'description']}
      searchable
      // A popover focuses its first field: an open list would hide the fields below it.
      openOnFocus={false}
      maxLength={nameLimit}
      {...optionList}
      data={data}
      // The server has already filtered.
      filter={({ options }) =>
        options.filter((option) => !('value' in option) || option.value !== choice?.value || !isHidden)
      }
      value={value || null}
      onChange={(chosen, option) => {
        if (chosen && option)
          queryClient.setQueryData(chosenKey(chosen), { value: chosen, label: option.label })
        onChange(chosen ?? '')
      }}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      onClick={({ currentTarget: field }) => {
        // Select the label so that typed or pasted text replaces it instead of being inserted into it.
        if (field.value === choice?.label && field.selectionStart === field.selectionEnd) field.select()
      }}
      // Before Mantine's handler, which would select whatever is at the position of the last selection.
      onKeyDownCapture={(event) => {
        const first = event.key === 'Enter' && isFound && firstOption(event.currentTarget)
        if (!first) return
        event.preventDefault()
        event.stopPropagation()
        first.click()
      }}
      nothingFoundMessage={
        isSearching ? 'Searching…' : found.isError ? 'Search failed' : props.nothingFoundMessage
      }
    />
  )
}

/** Props of a field with long options. */
export const optionList = {
  // Within the page's landmarks.
  comboboxProps: { withinPortal: false },
  // The list itself scrolls and the field controls it, so it does not need a Tab stop.
  withScrollArea: false,
  styles: { options: { maxHeight: 220, overflowY: 'auto' }, option: { overflowWrap: 'anywhere' } },
} as const

/** The first option of a field's open list; null if the arrow keys have moved to an option, or it is already selected. */
function firstOption(field: HTMLInputElement): HTMLElement | null {
  const list = document.getElementById(field.getAttribute('aria-controls') ?? '')
  if (!list || list.querySelector('[data-combobox-selected]')) return null
  const first = list.querySelector<HTMLElement>('[role=option]:not([aria-disabled])')
  return first?.ariaSelected === 'true' ? null : first
}

/** The last option if there are more than are listed. */
export const more = { value: '…', label: 'More results: type part of the name', disabled: true }
