import { useQuery } from '@tanstack/react-query'
import { Navigate, useSearchParams } from 'react-router'
import { Gate } from '../parts/gate.tsx'
import { SignInForm } from '../parts/sign-in-form.tsx'
import { sessionQuery } from '../session.ts'

/** Signing in; leads to where one wanted to go, `?to=` a path of the administration interface. */
export function SignInScreen() {
  const [parameters] = useSearchParams()
  const wanted = parameters.get('to') ?? '/'
  // A path of ours only: a link must not lead elsewhere.
  const to = /^\/(?![/\\])/.test(wanted) ? wanted : '/'
  const { data: session } = useQuery(sessionQuery)
  if (session) return <Navigate to={to} replace />
  return (
    <Gate title="Sign in" description="To the administration of Cairn on this server.">
      <SignInForm />
    </Gate>
  )
}
