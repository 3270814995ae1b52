import { operationPaths, personOperationPaths } from '../generated/operations.ts'
import { type OperationCalls, operationCalls, type ServerOptions } from './operation-calls.ts'
import { fetchWithRetries } from './retry.ts'

export {
  type OperationId,
  type OperationRequest,
  type OperationResult,
  type Problem,
  type Schemas,
  UnexpectedResponseError,
} from './operation-calls.ts'

// Ingestion never accepts a session.
const { initializeCustomer, createEvent, createEvents, ...sharedPaths } = operationPaths
const paths: Paths = { ...personOperationPaths, ...sharedPaths }

/** Not inferred, because a declaration file would have it without the contract's descriptions. */
type Paths = typeof personOperationPaths &
  Omit<typeof operationPaths, 'initializeCustomer' | 'createEvent' | 'createEvents'>

/** The operations for somebody who signs in. */
export type PersonClient = OperationCalls<Paths>

/** How to reach the Cairn server that serves the page. */
export type PersonClientOptions = ServerOptions & {
  /** Sent as `x-workspace-id`: the workspace that the requests are about, needed where the person has several. */
  workspaceId?: string | undefined
}

/**
 * A client for pages of the server's own origin. `signIn`, `setUp` and `acceptInvitation` make the browser keep the
 * session's cookie and send it from then on; no script sees it.
 *
 * Only GETs are sent again. Whoever waits for anything else decides: a wrong password must not be tried twice, and
 * the wait after `too_many_attempts` is for the page to show.
 */
export function createPersonClient(options: PersonClientOptions): PersonClient {
  const { workspaceId, retries } = options
  return operationCalls(paths, options, { 'x-workspace-id': workspaceId }, ({ method, signal }, attempt) =>
    method === 'GET' ? fetchWithRetries(() => attempt(false), true, { retries, signal }) : attempt(false),
  )
}
