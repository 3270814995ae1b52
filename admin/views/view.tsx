import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useParams } from 'react-router'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemAlert } from '../parts/problem-alert.tsx'
import { codeOf, taken } from '../problem.ts'
import { useCairn, useMembership, useWorkspaceKey } from '../session/session.ts'
import { reportAddress } from './view-address.ts'

/** The stable address of a view: leads to the report as the view shows it now. */
export function ViewScreen() {
  const cairn = useCairn()
  const { workspace_id } = useMembership()
  const { viewId = '' } = useParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: useWorkspaceKey('views', viewId),
    queryFn: ({ signal }) => taken(cairn.getView({ path: { view_id: viewId }, signal })),
    staleTime: 0,
  })
  if (data) return <Navigate to={reportAddress(workspace_id, data)} replace />
  return (
    <Page title="View">
      {isPending && <Loading lines={5} />}
      {codeOf(error) === 'view_not_found' ? (
        <EmptyState
          title="View not found"
          action={
            <Anchor component={Link} to={`/w/${workspace_id}/journeys`}>
              All journeys
            </Anchor>
          }
        >
          The view was removed, or only the person who saved it sees it.
        </EmptyState>
      ) : (
        <ProblemAlert error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  )
}
