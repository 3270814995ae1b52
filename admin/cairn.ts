import { createPersonClient, type PersonClient } from '../client/person.ts'

const clients = new Map<string | undefined, PersonClient>()

/** The client for one workspace, or for operations that are about none; always the same one. */
export function cairnFor(workspaceId?: string): PersonClient {
  const known = clients.get(workspaceId)
  if (known) return known
  // Two retries bridge a restart of the server; more would leave people before a page that says nothing.
  const client = createPersonClient({ baseUrl: `${location.origin}/v1`, workspaceId, retries: 2 })
  clients.set(workspaceId, client)
  return client
}
