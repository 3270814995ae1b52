import { Anchor, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Schemas } from '../../client/person.ts'
import { durationText, lengthOf } from '../parts/instants/duration-text.ts'
import { shortInstantText } from '../parts/instants/instant-text.ts'
import { countOf } from '../parts/number-text.ts'
import { visibleName } from '../parts/visible-name.ts'
import { useMembership } from '../session/session.ts'
import { chartNames, firstChart, reportAddress } from './view-address.ts'

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
          <bdi>{visibleName(name, view_id)}</bdi>
        </Anchor>
        <Text size="xs" c="dimmed">
          {about.join(' · ')}
        </Text>
      </div>
      {menu}
    </Group>
  )
}

/** What a view shows, in words. */
function sayingOf(query: Schemas['ViewQuery']): string[] {
  const { chart = firstChart, last_days, entered_from, entered_to, customer_type, window } = query
  const text = (at: string) => shortInstantText(new Date(at))
  const range =
    entered_from || entered_to
      ? [entered_from && `from ${text(entered_from)}`, entered_to && `before ${text(entered_to)}`]
          .filter(Boolean)
          .join(' ')
      : last_days && `last ${countOf(last_days, 'day')}`
  const limit_ms = lengthOf(window ?? '')
  return [
    chartNames[chart],
    range || 'all time',
    customer_type && `${customer_type}s`,
    limit_ms && `within ${durationText(limit_ms)}`,
  ].filter((word) => typeof word === 'string')
}
