import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { Page } from '../parts/page.tsx'
import { useMembership } from '../session/session.ts'

/** The Events and Rejected tabs, which share their time range and common filters. */
export function HappeningPage({
  tab,
  action,
  children,
}: {
  tab: 'events' | 'refused'
  action?: ReactNode
  children: ReactNode
}) {
  const { workspace_id } = useMembership()
  const { search } = useLocation()
  const shared = new URLSearchParams(search)
  for (const name of ['event', 'refusal']) shared.delete(name)
  const query = shared.size > 0 ? `?${shared}` : ''
  return (
    <Page title={tab === 'events' ? 'Events' : 'Rejected requests'} action={action}>
      <nav className="tabs" aria-label="Events and rejected requests">
        <Link
          to={`/w/${workspace_id}/events${query}`}
          {...(tab === 'events' && { 'aria-current': 'page' as const })}
        >
          Events
        </Link>
        <Link
          to={`/w/${workspace_id}/events/refused${query}`}
          {...(tab === 'refused' && { 'aria-current': 'page' as const })}
        >
          Rejected
        </Link>
      </nav>
      {children}
    </Page>
  )
}
