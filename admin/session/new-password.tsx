import type { PasswordInputProps } from '@mantine/core'
import { PasswordField } from './password-field.tsx'

const shortest = 12

/** A controlled field for a new password: at least 12 characters. Says in words how good it is. */
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

/** For `validate`: why a new password cannot be taken; null if it can. */
export function newPasswordFault(value: string): string | null {
  return [...value].length < shortest ? `Use at least ${shortest} characters` : null
}

function strength(value: string): string {
  const characters = [...value]
  const missing = shortest - characters.length
  if (characters.length === 0)
    return 'At least 12 characters. Four or five words that do not belong together are good.'
  if (missing > 0) return `${missing} more ${missing === 1 ? 'character' : 'characters'} needed.`
  if (new Set(characters).size < 6) return 'Long enough, but easy to guess: it repeats few characters.'
  if (characters.length < 16) return 'Acceptable. Longer is harder to guess.'
  if (characters.length < 20) return 'Good.'
  return 'Strong.'
}
