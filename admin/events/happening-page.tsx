import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { Page } from '../parts/page.tsx'
import { useMembership } from '../session/session.ts'

/** What happens, and what was refused: two pages of one thing, which keep their span and the filters that both have. */
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
    <Page title={tab === 'events' ? 'Events' : 'Refused'} action={action}>
      <nav className="tabs" aria-label="What happens">
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
          Refused
        </Link>
      </nav>
      {children}
    </Page>
  )
}
