import { TextInput } from '@mantine/core'
import { useDraft } from './filters.ts'

/** The contract takes no instant before 1900; a browser makes one of the first digits of a year. */
const earliestMs = Date.UTC(1900, 0, 2)

/**
 * A field for a filter by time: shown in the viewer's time zone, told as an instant in UTC, '' for none. What is only
 * half filled in is not told.
 */
export function InstantField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const { draft, setDraft, enter, leave } = useDraft(localTime(value))
  return (
    <TextInput
      label={label}
      type="datetime-local"
      min="1900-01-02T00:00"
      // Without it a year has six digits, and typing does not go on to the time.
      max="9999-12-30T23:59"
      value={draft}
      onFocus={enter}
      onChange={({ currentTarget: input }) => {
        setDraft(input.value)
        if (input.validity.badInput) return
        const time = Date.parse(input.value)
        if (input.value === '') onChange('')
        else if (time >= earliestMs) onChange(new Date(time).toISOString())
      }}
      onBlur={() => {
        leave()
        if (draft !== '' && !(Date.parse(draft) >= earliestMs)) setDraft(localTime(value))
      }}
    />
  )
}

/** '2026-11-20T09:30Z' as the viewer's clock showed it, in the form of the input; '' for what is no instant. */
function localTime(instant: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString()
  // The input writes no seconds where there are none.
  return at.getTime() % 60_000 === 0 ? shifted.slice(0, 16) : shifted.slice(0, 19)
}
