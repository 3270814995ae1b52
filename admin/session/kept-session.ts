import type { QueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../client/person.ts'
import { codeOf, ExplainedError } from '../problem.ts'
import { sessionQuery } from './session.ts'

/**
 * The session after signing in, read again from the server.
 * @throws {ExplainedError} if the browser did not store the cookie, for example a `Secure` one over plain HTTP
 */
export async function keptSession(queryClient: QueryClient): Promise<Schemas['Session']> {
  try {
    return await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
  } catch (error) {
    if (codeOf(error) !== 'unauthorized') throw error
    throw new ExplainedError(
      'Your browser did not store the session cookie',
      'Your email and password are correct, but the browser did not send the session cookie back. Open Cairn at the ' +
        'address that the operator set as CAIRN_PUBLIC_URL (including https://, if set), and allow cookies for it.',
    )
  }
}
