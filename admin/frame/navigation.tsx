import { AppShell, Badge, Divider, NavLink, VisuallyHidden } from '@mantine/core'
import {
  IconActivity,
  IconBook,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconRocket,
  IconRoute,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import type { OperationId } from '../../client/person.ts'
import { useHasEvents } from '../overview/has-events.ts'
import { useRefusedShare } from '../overview/refused-share.ts'
import { rejectionCount } from '../overview/rejections.ts'
import { clockText } from '../parts/instants/instant-text.ts'
import { countText } from '../parts/number-text.ts'
import { useMembership } from '../session/session.ts'

/** By the path of a screen, the API operation to start with to do the same from a program. */
const operations: Record<string, OperationId> = {
  'first-event': 'createEvent',
  overview: 'getActivity',
  journeys: 'listJourneys',
  customers: 'listCustomers',
  events: 'listEvents',
  keys: 'listServiceKeys',
  webhooks: 'listWebhooks',
  members: 'listMembers',
  'audit-log': 'listAuditLog',
}

/** Links to the screens of the workspace. Until it has an event, the first one is how to send one. */
export function Navigation() {
  const { workspace_id, canChange } = useMembership()
  const { pathname } = useLocation()
  const { data: hasEvents } = useHasEvents()
  const { data: share } = useRefusedShare()
  const hasRejections = share !== undefined && rejectionCount(share.rejections) > 0
  const operation = operations[pathname.split('/')[3] ?? '']
  const screens = [
    ...(hasEvents === false ? [{ path: 'first-event', label: 'First event', Icon: IconRocket }] : []),
    ...(hasEvents !== false || hasRejections
      ? [{ path: 'overview', label: 'Overview', Icon: IconLayoutDashboard }]
      : []),
    { path: 'journeys', label: 'Journeys', Icon: IconRoute },
    { path: 'customers', label: 'Customers', Icon: IconUsers },
    { path: 'events', label: 'Events', Icon: IconActivity },
    { path: 'keys', label: 'Service keys', Icon: IconKey },
    ...(canChange ? [{ path: 'webhooks', label: 'Webhooks', Icon: IconWebhook }] : []),
    { path: 'members', label: 'Members', Icon: IconUsersGroup },
    ...(canChange ? [{ path: 'audit-log', label: 'Audit log', Icon: IconHistory }] : []),
  ]
  return (
    <>
      <AppShell.Section grow p="sm" style={{ overflowY: 'auto' }}>
        {screens.map(({ path, label, Icon }) => {
          const to = `/w/${workspace_id}/${path}`
          const isHere = pathname === to || pathname.startsWith(`${to}/`)
          return (
            <NavLink
              key={path}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
              active={isHere}
              {...(path === 'events' && { rightSection: <RefusedBadge /> })}
              {...(isHere && { 'aria-current': 'page' as const })}
              style={{ borderRadius: 'var(--mantine-radius-md)' }}
            />
          )
        })}
      </AppShell.Section>
      <Divider />
      <AppShell.Section p="sm">
        <NavLink
          href={operation ? `/docs/#operation/${operation}` : '/docs/'}
          target="_blank"
          rel="noreferrer"
          label="API reference"
          leftSection={<IconBook size={18} stroke={1.6} aria-hidden />}
          style={{ borderRadius: 'var(--mantine-radius-md)' }}
        />
      </AppShell.Section>
    </>
  )
}

/** The number of recent rejections, shown on every screen if it is unusual. */
function RefusedBadge() {
  const { data } = useRefusedShare()
  if (!data?.isUnusual) return null
  return (
    <Badge color="red" variant="filled" size="sm">
      {countText(rejectionCount(data.rejections))}
      <VisuallyHidden> rejected since {clockText(data.since)}</VisuallyHidden>
    </Badge>
  )
}
