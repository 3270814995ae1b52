import type { Cairn, Workspace } from '../cairn.ts'

/** Returns a workspace, and the body of an event of a customer in its journey. */
export async function customerInJourney(cairn: Cairn): Promise<{
  workspace: Workspace
  event: { journey_id: string; customer_id: string; event_id: string }
}> {
  const workspace = await cairn.workspace()
  const { journey_id } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  return { workspace, event: { journey_id, customer_id, event_id: 'signed_up' } }
}

/** Initializes a contact in the workspace's journey. @returns its `customer_id` */
export async function initialize(
  { client, journey_id }: Pick<Workspace, 'client' | 'journey_id'>,
  client_customer_id: string,
): Promise<string> {
  const { data, error } = await client.initializeCustomer({
    body: { client_customer_id, journey_id, customer_type: 'contact', customer_name: 'Ada Lovelace' },
  })
  if (error) throw new Error(error.detail)
  return data.customer_id
}
