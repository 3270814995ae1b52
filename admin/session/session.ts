import { type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { useParams } from 'react-router'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { codeOf, taken } from '../problem.ts'

/** The query for who is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => taken(cairnFor().getSession()),
})

/** Given by the frame around the screens of a workspace. */
export const SessionContext = createContext<Schemas['Session'] | undefined>(undefined)

/** Who is signed in. Inside the frame only. */
export function useSession(): Schemas['Session'] {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession outside the frame')
  return session
}

/** The workspace in the URL, and what the person may do there. Inside the frame only. */
export function useMembership(): Schemas['Membership'] & {
  /** Whether the role, owner or admin, allows changes. */
  canChange: boolean
} {
  const { workspaceId } = useParams()
  const membership = useSession().workspaces.find(({ workspace_id }) => workspace_id === workspaceId)
  if (!membership) throw new Error('useMembership in a foreign workspace')
  return { ...membership, canChange: membership.role !== 'viewer' }
}

/** The client for the workspace in the URL. */
export function useCairn(): PersonClient {
  return cairnFor(useParams().workspaceId)
}

/** A query key that begins with the workspace in the URL, so that no answer is shown in another workspace. */
export function useWorkspaceKey(...rest: unknown[]): QueryKey {
  return [useParams().workspaceId, ...rest]
}

/** Somebody signed in, but the next request carried no session. */
export class CookieNotKeptError extends Error {
  override readonly name = 'CookieNotKeptError'
}

/**
 * The session after a sign-in, as the server finds it in the next request. Rejects with `CookieNotKeptError` if the
 * browser did not keep the cookie, as it does with a `Secure` one over plain HTTP.
 */
export async function keptSession(queryClient: QueryClient): Promise<Schemas['Session']> {
  try {
    return await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
  } catch (error) {
    if (codeOf(error) === 'unauthorized') throw new CookieNotKeptError()
    throw error
  }
}

let ended = false
const listeners = new Set<() => void>()

/** Whether the session has ended while somebody was at work. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ended,
  )
}

/** Tells the frame that the session has ended, or that there is one again. */
export function setSessionEnded(now: boolean): void {
  ended = now
  for (const listener of listeners) listener()
}
