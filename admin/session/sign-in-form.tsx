import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { countOf } from '../parts/number-text.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, fieldErrors, ProblemError, taken } from '../problem.ts'
import { keptSession } from './kept-session.ts'
import { PasswordField } from './password-field.tsx'

/**
 * Signs in with email and password. After too many attempts the form says how long to wait, and can then be used again.
 * `email` makes the email fixed; `focused` focuses the first field.
 */
export function SignInForm({
  email,
  focused = false,
  submitLabel = 'Sign in',
  onSignedIn,
}: {
  email?: string
  focused?: boolean
  submitLabel?: string
  /** Called after checking that the browser stores the session cookie. */
  onSignedIn?: (session: Schemas['Session']) => void
}) {
  const queryClient = useQueryClient()
  const wait = useWait()
  const form = useForm({
    initialValues: { email: email ?? '', password: '' },
    validate: {
      email: (value) => (value.trim() === '' ? 'Enter your email' : null),
      password: (value) => (value === '' ? 'Enter your password' : null),
    },
  })
  const signIn = useMutation({
    mutationFn: async (body: Schemas['SignInRequest']) => {
      await taken(cairnFor().signIn({ body }))
      return keptSession(queryClient)
    },
    onSuccess: (session) => onSignedIn?.(session),
    onError: (error) => {
      form.setErrors(fieldErrors(error))
      if (error instanceof ProblemError && error.problem.status === 429)
        wait.begin(error.retryAfterSeconds ?? 1)
    },
  })
  const { error } = signIn

  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ email, password }) => {
        if (wait.seconds === 0) signIn.mutate({ email: email.trim(), password })
      })}
    >
      <Stack>
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          readOnly={email !== undefined}
          autoFocus={focused}
          {...form.getInputProps('email')}
        />
        <PasswordField
          label="Password"
          autoComplete="current-password"
          required
          {...(email !== undefined && { 'data-autofocus': true })}
          {...form.getInputProps('password')}
        />
        <SignInError error={error} />
        <Button
          type="submit"
          loading={signIn.isPending}
          aria-disabled={wait.seconds > 0}
          {...(wait.seconds > 0 && { 'data-disabled': true })}
        >
          {wait.seconds > 0 ? `Wait ${countOf(wait.seconds, 'second')}` : submitLabel}
        </Button>
      </Stack>
    </form>
  )
}

function SignInError({ error }: { error: unknown }) {
  // A wrong password is not an incident: a request ID would only be noise.
  if (error instanceof ProblemError && codeOf(error) === 'sign_in_refused') {
    return (
      <Alert color="red" title={error.problem.title} icon={<IconAlertTriangle aria-hidden />}>
        {error.problem.detail}
      </Alert>
    )
  }
  if (codeOf(error) === 'too_many_attempts') {
    return (
      <Alert color="yellow" title="Too many attempts" icon={<IconAlertTriangle aria-hidden />}>
        To protect against password guessing, sign-in attempts are limited. The button shows how long to wait.
      </Alert>
    )
  }
  return <ProblemAlert error={error} />
}

/** Counts seconds down to 0. */
function useWait(): { seconds: number; begin: (seconds: number) => void } {
  const [until_ms, setUntil] = useState(0)
  const [now_ms, setNow] = useState(0)
  const seconds = Math.max(Math.ceil((until_ms - now_ms) / 1000), 0)
  const waiting = seconds > 0

  useEffect(() => {
    if (!waiting) return
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [waiting])

  function begin(seconds: number) {
    setNow(Date.now())
    setUntil(Date.now() + seconds * 1000)
  }
  return { seconds, begin }
}
