import { Button, Text } from '@mantine/core'
import { mayLeave } from '../parts/forms/unsaved.ts'
import { openSignIn } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** What the dialog shows in which a person signs in again after the session has ended. */
export function SignInAgain({ email }: { email: string }) {
  return (
    <>
      <Text size="sm" mb="md">
        Your session has ended. Sign in to continue where you left off. Nothing you typed is lost; save again
        what was not saved.
      </Text>
      <SignInForm email={email} />
      <Button variant="subtle" fullWidth mt="sm" onClick={() => mayLeave() && openSignIn()}>
        Sign in as someone else
      </Button>
    </>
  )
}
