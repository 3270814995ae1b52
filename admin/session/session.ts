import { type QueryKey, queryOptions, useMutation } from '@tanstack/react-query'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { useParams } from 'react-router'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { cairnFor } from '../cairn.ts'
import { keepUnsaved } from '../parts/forms/unsaved.ts'
import { codeOf, taken } from '../problem.ts'

/** The query of the session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => taken(cairnFor().getSession()),
})

/** Provided by the frame around the screens of a workspace. */
export const SessionContext = createContext<Schemas['Session'] | undefined>(undefined)

/** The session. Only inside of the frame. */
export function useSession(): Schemas['Session'] {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession outside the frame')
  return session
}

/** The person's membership in the workspace in the URL. Only inside of the frame. */
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

/** A query key that starts with the workspace in the URL, so that no data is shown in another workspace. */
export function useWorkspaceKey(...rest: unknown[]): QueryKey {
  return [useParams().workspaceId, ...rest]
}

/** Ends the session and opens the sign-in page, discarding all loaded data. */
export function useSignOut() {
  return useMutation({
    mutationFn: async () => {
      try {
        await taken(cairnFor().signOut())
      } catch (error) {
        // It has already ended, which is the desired result.
        if (codeOf(error) !== 'unauthorized') throw error
      }
    },
    onSuccess: openSignIn,
  })
}

/** A full page load, so that the next person finds nothing in memory, nor on the screen by going back. */
export function openSignIn(): void {
  // Asked before, if at all (`mayLeave`): staying now would leave a blank page.
  removeEventListener('beforeunload', keepUnsaved)
  // Browsers restore a page that was left as it was (back/forward cache). `replace` alone would leave the one before it.
  document.body.replaceChildren()
  location.assign('/admin/sign-in')
}

let ended = false
const listeners = new Set<() => void>()

// Mantine closes every open dialog on Escape, also those beneath the one that asks to sign in again. This listener is added
// before Mantine's, which listen in the same phase.
addEventListener(
  'keydown',
  (event) => {
    if (ended && event.key === 'Escape') event.stopImmediatePropagation()
  },
  true,
)

/** Whether the session has ended while the page was open. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ended,
  )
}

/** Notifies the frame that the session has ended, or that there is one again. */
export function setSessionEnded(now: boolean): void {
  ended = now
  for (const listener of listeners) listener()
}
