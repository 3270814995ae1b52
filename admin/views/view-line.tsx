import { Anchor, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { reportAddress } from './view-address.ts'
import { sayingOf } from './view-saying.ts'

/** A view in a list: its name, which opens it, and what it shows. */
export function ViewLine({
  view,
  menu,
  journey,
  onOpen,
}: {
  view: Schemas['View']
  menu?: ReactNode
  /** The name of its journey, where views of several are listed. */
  journey?: string | undefined
  onOpen?: () => void
}) {
  const { workspace_id } = useMembership()
  const { name, query, visibility, view_id } = view
  const about = [
    journey && visibleName(journey),
    ...sayingOf(query),
    visibility === 'own' && 'only you see it',
  ].filter(Boolean)
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="md" align="flex-start">
      <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
        <Anchor
          component={Link}
          to={reportAddress(workspace_id, view)}
          size="sm"
          {...(onOpen && { onClick: onOpen })}
        >
          {visibleName(name, view_id)}
        </Anchor>
        <Text size="xs" c="dimmed">
          {about.join(' · ')}
        </Text>
      </div>
      {menu}
    </Group>
  )
}
