import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { durationOf, durationText, lengthOf } from '../parts/duration-text.ts'
import { useDraft } from '../parts/filters.ts'

/** A time limit that is none of the usual lengths. */
export function OwnWindowField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { draft, setDraft, enter, leave } = useDraft(shown(value))
  const [isWrong, setIsWrong] = useState(false)

  function tell() {
    const duration = durationOf(draft)
    setIsWrong(draft.trim() !== '' && !duration)
    if (duration) onChange(duration)
  }

  return (
    <TextInput
      label="Time limit of your own"
      placeholder="36 h"
      autoComplete="off"
      error={isWrong && 'Write it like 36 h or 2 d 12 h'}
      value={draft}
      onFocus={enter}
      onChange={(change) => {
        setIsWrong(false)
        setDraft(change.currentTarget.value)
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

function shown(duration: string): string {
  const length_ms = lengthOf(duration)
  return length_ms ? durationText(length_ms).replaceAll('\u00a0', ' ') : duration
}
