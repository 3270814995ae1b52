import { AppShell, Divider, NavLink } from '@mantine/core'
import {
  IconActivity,
  IconBook,
  IconHistory,
  IconKey,
  IconRocket,
  IconRoute,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import { useMembership } from '../session/session.ts'

/** The screens of the workspace. */
export function Navigation() {
  const { workspace_id, canChange } = useMembership()
  const { pathname } = useLocation()
  const screens = [
    { path: 'first-event', label: 'First event', Icon: IconRocket },
    { path: 'journeys', label: 'Journeys', Icon: IconRoute },
    { path: 'customers', label: 'Customers', Icon: IconUsers },
    { path: 'events', label: 'Events', Icon: IconActivity },
    { path: 'keys', label: 'Service keys', Icon: IconKey },
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
              {...(isHere && { 'aria-current': 'page' as const })}
              style={{ borderRadius: 'var(--mantine-radius-md)' }}
            />
          )
        })}
      </AppShell.Section>
      <Divider />
      <AppShell.Section p="sm">
        <NavLink
          href="/docs/"
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
