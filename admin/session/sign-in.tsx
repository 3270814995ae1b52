import { Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useSearchParams } from 'react-router'
import { cairnFor } from '../cairn.ts'
import { Gate } from '../frame/gate.tsx'
import { taken } from '../problem.ts'
import { sessionQuery } from './session.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Signing in; leads to where one wanted to go, `?to=` a path of the administration interface. */
export function SignInScreen() {
  const [parameters] = useSearchParams()
  const wanted = parameters.get('to') ?? '/'
  // A path of ours only: a link must not lead elsewhere.
  const to = /^\/(?![/\\])/.test(wanted) ? wanted : '/'
  const { data: session } = useQuery(sessionQuery)
  const setup = useQuery({
    queryKey: ['setup'],
    queryFn: () => taken(cairnFor().getSetup()),
    // An operator sets up in another tab.
    refetchOnWindowFocus: true,
    staleTime: 0,
  })
  if (session) return <Navigate to={to} replace />
  if (setup.isPending) return <Gate title="Sign in" focusesField />
  if (setup.data?.has_accounts === false) return <NotSetUp />
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

/** Nobody has an account yet: there is nothing to sign in with. */
function NotSetUp() {
  return (
    <Gate
      title="This server has not been set up"
      description="Nobody has an account yet. The first one is made by a setup link."
    >
      <Text>
        If you run this server, open the setup link. The first start has printed it, and it stands in that
        start’s output. It works for one hour; make a new one on the server, in the directory of Cairn:
      </Text>
      <Code block>npx cairn setup-link</Code>
      <Text size="sm" c="dimmed">
        If you do not run this server, ask its operator.
      </Text>
    </Gate>
  )
}
