import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { useMembership } from '../session/session.ts'

/** The link back to the list. */
export function AllDefinitions() {
  const { workspace_id } = useMembership()
  return (
    <Anchor component={Link} to={`/w/${workspace_id}/events/definitions`} size="sm">
      All definitions
    </Anchor>
  )
}
