import { TextInput } from '@mantine/core'
import { useState } from 'react'

/** A field for a name that must be typed to confirm a permanent deletion. */
export function useTypedName(name: string) {
  const [typed, setTyped] = useState('')
  const field = (
    <TextInput
      label={`Type the name to confirm: ${name}`}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      autoComplete="off"
    />
  )
  return { isTyped: asShown(typed) === asShown(name), field }
}

/**
 * A browser shows line ends and several spaces as one space, and an accent may be typed as a character of its own or not. Nobody
 * types the controls of direction, which cannot be seen.
 */
function asShown(text: string): string {
  return text
    .normalize()
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
}
