import { Anchor } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyState } from '../parts/empty-state.tsx'
import { useMembership } from '../session/session.ts'

/** The link to the list of webhooks. */
export function AllWebhooks() {
  const { workspace_id } = useMembership()
  return (
    <Anchor component={Link} size="sm" to={`/w/${workspace_id}/webhooks`}>
      All webhooks
    </Anchor>
  )
}

/** Shown to viewers in place of webhooks, which the server does not let them read. */
export function ForAdmins() {
  return (
    <EmptyState title="For owners and admins" icon={<IconWebhook />}>
      Your role in this workspace is viewer. Owners and admins can read and change webhooks, and change your
      role.
    </EmptyState>
  )
}
