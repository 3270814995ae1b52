import { useQuery } from '@tanstack/react-query'
import { Navigate } from 'react-router'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf } from '../problem.ts'
import { sessionQuery } from '../session/session.ts'
import { SignOutButton } from '../session/sign-out.tsx'
import { Gate } from './gate.tsx'

/** The way from the bare address to the first workspace of the person, or to signing in. */
export function HomeScreen() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  if (session) {
    const [first] = session.workspaces
    if (first) return <Navigate to={`/w/${first.workspace_id}/overview`} replace />
    return (
      <Gate
        title="You are a member of no workspace"
        description={`You are signed in as ${session.person.email}. Ask an owner or an admin of a workspace to invite this email, then open the link you are given.`}
      >
        <SignOutButton />
      </Gate>
    )
  }
  if (codeOf(error) === 'unauthorized') return <Navigate to="/sign-in" replace />
  return (
    <Gate title="Administration">
      {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Loading lines={2} />}
    </Gate>
  )
}
