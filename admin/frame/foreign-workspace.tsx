import { Anchor, List, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { visibleName } from '../parts/visible-name.ts'
import { openSignIn } from '../session/session.ts'
import { Gate } from './gate.tsx'

/** Shown instead of a workspace that does not exist or that the person is not a member of. */
export function ForeignWorkspace({ session }: { session: Schemas['Session'] }) {
  const { workspaces, person } = session
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
      <Anchor component="button" type="button" ta="left" onClick={openSignIn}>
        Sign in as someone else
      </Anchor>
    </Gate>
  )
}
