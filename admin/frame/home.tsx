import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate } from 'react-router'
import { Loading } from '../parts/loading.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf } from '../problem.ts'
import { sessionQuery, useSignOut } from '../session/session.ts'
import { Gate } from './gate.tsx'

/** Redirects from the root to the person's first workspace, or to the sign-in page. */
export function HomeScreen() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  if (session) {
    const [first] = session.workspaces
    if (first) return <Navigate to={`/w/${first.workspace_id}/overview`} replace />
    return (
      <Gate
        title="You are not a member of any workspace"
        description={`You are signed in as ${session.person.email}. Ask an owner or admin of a workspace to invite this email, then open the invitation link.`}
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

function SignOutButton() {
  const signOut = useSignOut()
  return (
    <Stack align="flex-start">
      <ProblemAlert error={signOut.error} />
      <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </Button>
    </Stack>
  )
}
