import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { Page } from '../parts/page.tsx'
import { useMembership } from '../session/session.ts'

const tabs = [
  { name: 'events', path: '', label: 'Events', title: 'Events' },
  { name: 'refused', path: '/refused', label: 'Rejected', title: 'Rejected requests' },
  { name: 'definitions', path: '/definitions', label: 'Definitions', title: 'Event definitions' },
] as const

/** Parameters that only one tab has. */
const ownParameters = ['event', 'refusal', 'search', 'defined']

/** The tabs of Events. Events and Rejected share their time range and common filters. */
export function HappeningPage({
  tab,
  action,
  children,
}: {
  tab: (typeof tabs)[number]['name']
  action?: ReactNode
  children: ReactNode
}) {
  const { workspace_id } = useMembership()
  const { search } = useLocation()
  const shared = new URLSearchParams(search)
  for (const name of ownParameters) shared.delete(name)
  const query = shared.size > 0 ? `?${shared}` : ''
  return (
    <Page title={tabs.find(({ name }) => name === tab)?.title ?? ''} action={action}>
      <nav className="tabs" aria-label="Events, rejected requests and definitions">
        {tabs.map(({ name, path, label }) => (
          <Link
            key={name}
            to={`/w/${workspace_id}/events${path}${query}`}
            {...(tab === name && { 'aria-current': 'page' as const })}
          >
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  )
}
