import { Anchor, List, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { visibleName } from '../parts/visible-name.ts'
import { openSignIn } from '../session/sign-out.tsx'
import { Gate } from './gate.tsx'

/** Stands in place of a workspace that does not exist or is not the person's. */
export function ForeignWorkspace({ session }: { session: Schemas['Session'] }) {
  const { workspaces, person } = session
  return (
    <Gate
      title="There is no such workspace"
      description={`Or ${person.email} is no member of it. Ask an owner or an admin of the workspace to invite this email.`}
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
        Sign in as somebody else
      </Anchor>
    </Gate>
  )
}
