import { Anchor, List, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { visibleName } from '../parts/visible-name.ts'
import { useSignOut } from '../session/session.ts'
import { Gate } from './gate.tsx'

/** Shown instead of a workspace that does not exist or that the person is not a member of. */
export function ForeignWorkspace({ session }: { session: Schemas['Session'] }) {
  const { workspaces, person } = session
  const signOut = useSignOut()
  return (
    <Gate
      title="Workspace not found"
      description={`It does not exist, or ${person.email} is not a member of it. Ask an owner or admin of the workspace to invite this email.`}
    >
      {workspaces.length > 0 && (
        <>
          <Text>Your workspaces:</Text>
          <List>
            {workspaces.map(({ workspace_id, name }) => (
              <List.Item key={workspace_id}>
                <Anchor component={Link} to={`/w/${workspace_id}/journeys`}>
                  {visibleName(name, workspace_id)}
                </Anchor>
              </List.Item>
            ))}
          </List>
        </>
      )}
      <ProblemAlert error={signOut.error} />
      {/* Signs out first: with a session, the sign-in page leads back into the interface. */}
      <Anchor
        component="button"
        type="button"
        ta="left"
        disabled={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        Sign in as someone else
      </Anchor>
    </Gate>
  )
}
