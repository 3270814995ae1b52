import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useSearchParams } from 'react-router'
import { Gate } from '../frame/gate.tsx'
import { sessionQuery } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Signing in; leads to where one wanted to go, `?to=` a path of the administration interface. */
export function SignInScreen() {
  const [parameters] = useSearchParams()
  const wanted = parameters.get('to') ?? '/'
  // A path of ours only: a link must not lead elsewhere.
  const to = /^\/(?![/\\])/.test(wanted) ? wanted : '/'
  const { data: session } = useQuery(sessionQuery)
  if (session) return <Navigate to={to} replace />
  return (
    <Gate title="Sign in" description="To the administration of Cairn on this server." focusesField>
      <SignInForm focused />
      <Text size="sm" c="dimmed">
        Forgot your password? Cairn sends no mail: ask an owner or an admin of your workspace, or whoever runs
        this server, for a new one.
      </Text>
    </Gate>
  )
}
