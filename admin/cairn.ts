import { createPersonClient, type PersonClient } from '../client/person.ts'

const clients = new Map<string | undefined, PersonClient>()

/** The client for a workspace, or for operations outside of any workspace. One client per workspace, cached. */
export function cairnFor(workspaceId?: string): PersonClient {
  const known = clients.get(workspaceId)
  if (known) return known
  // Two retries bridge a restart of the server; with more, people would wait too long for an error message.
  const client = createPersonClient({ baseUrl: `${location.origin}/v1`, workspaceId, retries: 2 })
  clients.set(workspaceId, client)
  return client
}
