import type { PasswordInputProps } from '@mantine/core'
import { countOf } from '../parts/number-text.ts'
import { PasswordField } from './password-field.tsx'

const shortest = 12

/** A controlled field for a new password of at least 12 characters, with its strength in words. */
export function NewPassword({ value = '', ...props }: PasswordInputProps) {
  return (
    <PasswordField
      autoComplete="new-password"
      required
      value={value}
      description={<span aria-live="polite">{strength(String(value))}</span>}
      {...props}
    />
  )
}

/** For `validate`: why a new password is not accepted; null if it is. */
export function newPasswordFault(value: string): string | null {
  return [...value].length < shortest ? `Use at least ${shortest} characters` : null
}

function strength(value: string): string {
  const characters = [...value]
  const missing = shortest - characters.length
  if (characters.length === 0)
    return 'At least 12 characters. Four or five unrelated words are a good choice.'
  if (missing > 0) return `${countOf(missing, 'more character')} needed.`
  if (new Set(characters).size < 6) return 'Long enough, but easy to guess: it repeats a few characters.'
  if (characters.length < 16) return 'Acceptable. Longer is harder to guess.'
  if (characters.length < 20) return 'Good.'
  return 'Strong.'
}
