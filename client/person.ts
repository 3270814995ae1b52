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

// The ingestion operations never accept a session.
const { initializeCustomer, createEvent, createEvents, ...sharedPaths } = operationPaths
const paths: Paths = { ...personOperationPaths, ...sharedPaths }

/** Declared explicitly, because the inferred type would lose the contract's descriptions in the declaration file. */
type Paths = typeof personOperationPaths &
  Omit<typeof operationPaths, 'initializeCustomer' | 'createEvent' | 'createEvents'>

/** The operations for a person who signs in. */
export type PersonClient = OperationCalls<Paths>

/** How to reach the Cairn server that serves the page. */
export type PersonClientOptions = ServerOptions & {
  /** Sent as `x-workspace-id`: the workspace that the requests are about. Required if the person has several. */
  workspaceId?: string | undefined
}

/**
 * Creates a client for pages of the server's own origin. After `signIn`, `setUp` and `acceptInvitation` the browser
 * keeps the session cookie and sends it with each request; scripts cannot read it.
 *
 * Only GET requests are retried. Other calls return to the page: a wrong password must not be tried twice, and after
 * `too_many_attempts` the page should show how long to wait.
 */
export function createPersonClient(options: PersonClientOptions): PersonClient {
  const { workspaceId, retries } = options
  const headers: Record<string, string> = workspaceId === undefined ? {} : { 'x-workspace-id': workspaceId }
  return operationCalls(paths, options, headers, ({ method, signal }, attempt) =>
    method === 'GET' ? fetchWithRetries(() => attempt(false), true, { retries, signal }) : attempt(false),
  )
}
