import { type ComboboxData, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, type QueryKey, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { nameLimit } from './field-faults.ts'

/** Something to choose: its identifier and what people call it. */
export type Choice = { value: string; label: string }

/** What a search has found. With a heading where the choices are of several kinds. */
export type FoundChoices = { group?: string; items: Choice[]; hasMore: boolean }

/** Where the choices of a select come from. */
export type ChoiceSource = {
  /** Begins with the workspace (`useWorkspaceKey`), and is of this source alone. */
  key: QueryKey
  /** The first of those that match what somebody has typed; without text the first of all. */
  search(text: string | undefined, signal: AbortSignal): Promise<FoundChoices[]>
  /** What is chosen already; undefined where there is no such thing. */
  find(value: string, signal: AbortSignal): Promise<Choice | undefined>
}

/**
 * A select of things that may be thousands: the server is asked for those that match what is typed or pasted, without the
 * blanks around it, and only while the list is open. Enter takes the first that was found. `value` is '' where nothing is
 * chosen; what is chosen is shown even if it cannot be found.
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
  /** What is chosen, where that is known already. */
  known?: Choice | undefined
  /** What to say where there is nothing that has the `value`. */
  unknownMessage?: string
  onChange: (value: string) => void
}) {
  const queryClient = useQueryClient()
  const [opened, setOpened] = useState(false)
  const [typed, setTyped] = useState('')
  const [settled] = useDebouncedValue(typed.trim(), 200)
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
  // The field shows what is chosen until somebody types something else.
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
  const isFound = text !== '' && text === typed.trim() && found.isSuccess && !found.isPlaceholderData
  const data: ComboboxData<string> = [
    // Mantine shows what is chosen only where it is among the choices.
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
      // Below, so that the fields of a row stand in line.
      inputWrapperOrder={['label', 'input', 'description']}
      searchable
      // A popover gives its first field the focus: an open list would hide the fields below it.
      openOnFocus={false}
      maxLength={nameLimit}
      // Within the page's landmarks.
      comboboxProps={{ withinPortal: false }}
      // What scrolls is the list itself, which the field controls, so that it needs no stop of the Tab key.
      withScrollArea={false}
      styles={{
        options: { maxHeight: 220, overflowY: 'auto' },
        option: { overflowWrap: 'anywhere' },
      }}
      data={data}
      // The server has filtered.
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
        // What is pasted or typed now takes its place; without, it would stand within what is chosen and find nothing.
        if (field.value === choice?.label && field.selectionStart === field.selectionEnd) field.select()
      }}
      // Before Mantine, which would then choose what stood at the place of the last choice.
      onKeyDownCapture={(event) => {
        const first = event.key === 'Enter' && isFound && firstOption(event.currentTarget)
        if (!first) return
        event.preventDefault()
        event.stopPropagation()
        first.click()
      }}
      nothingFoundMessage={
        found.isPending ? 'Searching…' : found.isError ? 'The search failed' : props.nothingFoundMessage
      }
    />
  )
}

/** The first of the list that a field has opened; null where the arrow keys have led to one, or it is chosen already. */
function firstOption(field: HTMLInputElement): HTMLElement | null {
  const list = document.getElementById(field.getAttribute('aria-controls') ?? '')
  if (!list || list.querySelector('[data-combobox-selected]')) return null
  const first = list.querySelector<HTMLElement>('[role=option]:not([aria-disabled])')
  return first?.ariaSelected === 'true' ? null : first
}

const more = { value: '…', label: 'There are more: type a part of the name', disabled: true }
