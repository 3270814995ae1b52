import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { codeOf } from './problem.ts'
import { sessionQuery, setSessionEnded } from './session/session.ts'

const [sessionName] = sessionQuery.queryKey

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
    onError: noteRefusal,
  }),
})

/** Updates the state of the session from an error of any request. */
function noteRefusal(error: unknown) {
  if (codeOf(error) === 'unauthorized') setSessionEnded(true)
  // The person was removed from the workspace: the new session says so, and the frame shows that instead.
  if (codeOf(error) === 'not_a_member') void queryClient.invalidateQueries(sessionQuery)
}
