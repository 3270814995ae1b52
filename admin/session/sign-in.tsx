import { Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useSearchParams } from 'react-router'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { taken } from '../problem.ts'
import { sessionQuery } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Signs in and continues to the path in `?to=`. */
export function SignInScreen() {
  const [parameters] = useSearchParams()
  const wanted = parameters.get('to') ?? '/'
  // Only a path of this interface, to prevent open redirects.
  const to = /^\/(?![/\\])/.test(wanted) ? wanted : '/'
  const { data: session } = useQuery(sessionQuery)
  const setup = useQuery({
    queryKey: ['setup'],
    queryFn: () => taken(cairnFor().getSetup()),
    // An operator may set up Cairn in another tab.
    refetchOnWindowFocus: true,
    staleTime: 0,
  })
  if (session) return <Navigate to={to} replace />
  if (setup.isPending) return <Gate title="Sign in" focusesField />
  if (setup.data?.has_accounts === false) return <NotSetUp />
  return (
    <Gate title="Sign in" description="Administration of Cairn on this server." focusesField>
      <SignInForm focused />
      <Text size="sm" c="dimmed">
        Forgot your password? Cairn does not send email. Ask an owner or admin of your workspace, or the
        operator of this server, for a password reset link.
      </Text>
    </Gate>
  )
}

/** Shown while no account exists. */
function NotSetUp() {
  return (
    <Gate
      title="This server has not been set up"
      description="There are no accounts yet. Use a setup link to create the first one."
    >
      <Text>
        If you run this server, open the setup link in the output of its first start. The link expires after
        an hour. To create a new one, run this on the server, in Cairn’s directory:
      </Text>
      <Code block>npx cairn setup-link</Code>
      <Text size="sm" c="dimmed">
        If you do not run this server, ask its operator.
      </Text>
    </Gate>
  )
}
