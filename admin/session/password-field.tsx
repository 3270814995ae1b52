import '@mantine/core/styles/PasswordInput.css'
import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** A password field with a button that shows the password. */
export function PasswordField(props: PasswordInputProps) {
  // Mantine sets this on every other field.
  return <PasswordInput aria-invalid={Boolean(props.error)} {...props} />
}
