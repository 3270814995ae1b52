import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query'
import { codeOf, ProblemError } from './problem.ts'
import { sessionQuery, setSessionEnded } from './session/session.ts'

const [sessionName] = sessionQuery.queryKey

// Otherwise in a later task: a second click that waits meanwhile would find the button enabled, and send a change again.
notifyManager.setScheduler(queueMicrotask)

/** The cache of everything read from the server. When a session has ended it asks to sign in again, without losing the page. */
export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    // The client already retries. A server on the same machine answers without a network.
    queries: { retry: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
  queryCache: new QueryCache({
    onError: (error, query) => {
      // Not signed in to begin with: the frame redirects to the sign-in page.
      if (query.queryKey[0] === sessionName && query.state.data === undefined) return
      noteRefusal(error)
    },
    onSuccess: (_, query) => {
      if (query.queryKey[0] !== sessionName) return
      setSessionEnded(false)
      // Retry what failed while there was no session.
      queryClient.invalidateQueries({ predicate: ({ state }) => codeOf(state.error) === 'unauthorized' })
    },
  }),
  mutationCache: new MutationCache({
    onMutate: (_, mutation) => void focusedAt.set(mutation, document.activeElement),
    onSettled: (_data, _error, _variables, _result, mutation) => returnFocus(focusedAt.get(mutation)),
    onError: (error) => {
      noteRefusal(error)
      if (!showsOutdated(error)) return
      void queryClient.refetchQueries({
        type: 'active',
        stale: true,
        predicate: ({ queryKey, state }) => queryKey[0] !== sessionName && state.data !== undefined,
      })
    },
  }),
})

/** What had the focus when a change began. */
const focusedAt = new WeakMap<object, Element | null>()

/** A button is disabled while its change is pending, and the browser takes the focus from what is disabled. */
function returnFocus(element: Element | null | undefined) {
  // Once it is enabled again.
  setTimeout(() => {
    const isLost = document.activeElement === document.body
    if (isLost && element instanceof HTMLElement) element.focus({ preventScroll: true })
  })
}

/** Updates the state of the session from an error of any request. */
function noteRefusal(error: unknown) {
  const code = codeOf(error)
  if (code === 'unauthorized') setSessionEnded(true)
  // The person was removed from the workspace, or has another role: the new session says so, and the screens follow it.
  if (code === 'not_a_member' || code === 'role_not_allowed') void queryClient.invalidateQueries(sessionQuery)
}

/**
 * Whether what is shown may be out of date after a change that failed: somebody else was first, or the response was lost and
 * the change may have been made.
 */
function showsOutdated(error: unknown): boolean {
  return !(error instanceof ProblemError) || [403, 404, 409].includes(error.problem.status)
}
