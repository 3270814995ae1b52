import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { codeOf } from './problem.ts'
import { sessionQuery, setSessionEnded } from './session/session.ts'

const [sessionName] = sessionQuery.queryKey

/** All that was read from the server. Asks somebody whose session has ended to sign in again, without losing the page. */
export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    // The client retries already. A server on the same machine answers without a network.
    queries: { retry: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
  queryCache: new QueryCache({
    onError: (error, query) => {
      // Nobody was signed in: that leads to the sign-in page.
      if (query.queryKey[0] === sessionName && query.state.data === undefined) return
      noteRefusal(error)
    },
    onSuccess: (_, query) => {
      if (query.queryKey[0] !== sessionName) return
      setSessionEnded(false)
      // What failed in the meantime is read now.
      queryClient.invalidateQueries({ predicate: ({ state }) => codeOf(state.error) === 'unauthorized' })
    },
  }),
  mutationCache: new MutationCache({
    onError: noteRefusal,
  }),
})

/** What a refusal tells of the session, whatever was asked. */
function noteRefusal(error: unknown) {
  if (codeOf(error) === 'unauthorized') setSessionEnded(true)
  // Removed in the meantime: the session says so, and the frame shows it in place of the workspace.
  if (codeOf(error) === 'not_a_member') void queryClient.invalidateQueries(sessionQuery)
}
