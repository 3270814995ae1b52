import { useState } from 'react'
import { InstantInput } from '../instants/instant-input.tsx'
import { instantText } from '../instants/instant-text.ts'
import { instantOf } from '../instants/typed-instant.ts'
import { useDraft } from './filters.ts'

/** The contract accepts no instant before 1900. */
const earliestMs = Date.UTC(1900, 0, 2)

/**
 * A filter by time, shown and typed in the viewer's time zone. On blur and Enter, `onChange` receives the instant in UTC, or ''
 * if the field is empty. Invalid text is not committed and shows an error.
 * @param props.after the start of a range that ends at this instant; an end that is not after it shows an error
 */
export function InstantField({
  label,
  value,
  after = '',
  onChange,
}: {
  label: string
  value: string
  after?: string
  onChange: (value: string) => void
}) {
  const { draft, setDraft, enter, leave } = useDraft(shown(value))
  const [isWrong, setIsWrong] = useState(false)
  const chosen = instantOf(draft)
  const isEmptyRange = Date.parse(value) <= Date.parse(after)

  function commit() {
    // A field that was only visited changes nothing: its text may be less exact than the value.
    if (draft === shown(value)) return setIsWrong(false)
    const isGood = chosen !== undefined && chosen.getTime() >= earliestMs
    setIsWrong(draft.trim() !== '' && !isGood)
    if (draft.trim() === '') onChange('')
    else if (isGood) {
      setDraft(instantText(chosen))
      onChange(chosen.toISOString())
    }
  }

  return (
    <InstantInput
      type="datetime-local"
      label={label}
      min="1900-01-02T00:00"
      error={
        isWrong ? 'Enter a time such as 20 Nov 2026, 09:30' : isEmptyRange && 'Enter a time after the start'
      }
      value={draft}
      chosen={chosen}
      onChoose={(instant) => {
        setIsWrong(false)
        setDraft(instantText(instant))
        onChange(instant.toISOString())
      }}
      onFocus={enter}
      onChange={(event) => {
        setIsWrong(false)
        setDraft(event.currentTarget.value)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit()
      }}
      onBlur={() => {
        leave()
        commit()
      }}
    />
  )
}

/** '2026-11-20T09:30Z' in the viewer's time zone; '' if it is not an instant. */
function shown(instant: string): string {
  const at = new Date(instant)
  return Number.isNaN(at.getTime()) ? '' : instantText(at)
}
