import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** A field for a password, with a button that shows what was typed. */
export function PasswordField(props: PasswordInputProps) {
  // Mantine says this of every other field itself.
  return <PasswordInput aria-invalid={Boolean(props.error)} {...props} />
}
