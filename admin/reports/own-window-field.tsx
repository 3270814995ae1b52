import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useDraft } from '../parts/filters/filters.ts'
import { durationOf, durationText, lengthOf } from '../parts/instants/duration-text.ts'

/** A conversion window of custom length. */
export function OwnWindowField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { draft, setDraft, enter, leave } = useDraft(shown(value))
  const [isWrong, setIsWrong] = useState(false)

  function commit() {
    const duration = durationOf(draft)
    setIsWrong(draft.trim() !== '' && !duration)
    // A field that was only visited changes nothing: its text may be less exact than the value.
    if (duration && draft !== shown(value)) onChange(duration)
  }

  return (
    <TextInput
      label="Custom conversion window"
      placeholder="36 h"
      autoComplete="off"
      error={isWrong && 'Enter a duration such as 36 h or 2d 12h'}
      value={draft}
      onFocus={enter}
      onChange={(change) => {
        setIsWrong(false)
        setDraft(change.currentTarget.value)
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

function shown(duration: string): string {
  const length_ms = lengthOf(duration)
  return length_ms ? durationText(length_ms) : duration
}
