import { useState } from 'react'
import { useDraft } from './filters.ts'
import { InstantInput } from './instant-input.tsx'
import { instantOf, instantText } from './instant-text.ts'

/** The contract takes no instant before 1900. */
const earliestMs = Date.UTC(1900, 0, 2)

/**
 * A field for a filter by time: shown and typed in the viewer's time zone, told as an instant in UTC when it is left or
 * Enter is pressed, '' for none. What is no instant is not told, and said to be none.
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
  const { draft, setDraft, enter, leave } = useDraft(shown(value))
  const [isWrong, setIsWrong] = useState(false)
  const chosen = instantOf(draft)

  function tell() {
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
      error={isWrong && 'Write it like 20 Nov 2026, 09:30'}
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
        if (event.key === 'Enter') tell()
      }}
      onBlur={() => {
        leave()
        tell()
      }}
    />
  )
}

/** '2026-11-20T09:30Z' as the viewer's clock showed it; '' for what is no instant. */
function shown(instant: string): string {
  const at = new Date(instant)
  return Number.isNaN(at.getTime()) ? '' : instantText(at)
}
