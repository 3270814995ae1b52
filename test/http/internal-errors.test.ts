// engines: sqlite, postgres

import { beforeAll, describe, expect, it, vi } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { type Cairn, startCairn } from '../fixtures/cairn.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { problemOf, send } from '../fixtures/requests.ts'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

describe('an internal error', () => {
  it('is 500, reveals nothing internal and leaves everything else working', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { secret_key: key } = workspace
    // Removes a table that the server needs, while it runs.
    await inStore(cairn.databaseUrl, (db) => db.schema.dropTable('events').execute())

    for (const [id, line, sent] of [
      ['write', 'POST /events/create', { body: JSON.stringify({ ...event, custom_variables: 's3cret' }) }],
      ['read', 'GET /events?event_id=s3cret', {}],
    ] as const) {
      const headers = { 'x-request-id': id, origin: 'https://app.example.com' }
      const reply = await send(cairn, line, { key, headers, ...sent })
      expect(reply.status).toBe(500)
      const isIngestion = id === 'write'
      expect(reply.headers.get('access-control-allow-origin')).toBe(isIngestion ? '*' : null)
      expect(await problemOf(reply)).toEqual({
        type: '/docs/problems#internal_error',
        title: 'Internal server error',
        status: 500,
        detail: 'The request is not at fault. Give the operator the request_id; the log has the cause.',
        code: 'internal_error',
        request_id: id,
      })
      const lines = await vi.waitFor(() => {
        const lines = cairn.log.filter(({ request_id }) => request_id === id)
        expect(lines).toHaveLength(2)
        return lines
      }, withPatience)
      expect(lines).toMatchObject([
        {
          level: 50,
          code: 'internal_error',
          err: { message: expect.stringMatching(/no such table|does not exist/), stack: expect.any(String) },
        },
        { level: 30, status: 500, code: 'internal_error' },
      ])
      expect(JSON.stringify(lines)).not.toContain('s3cret')
      expect(JSON.stringify(lines)).not.toContain(key)
    }

    const { client } = workspace
    expect(await initialize(workspace, 'user-2')).toMatch(/^cus_/)
    expect((await client.listCustomers()).data?.data).toHaveLength(2)
    expect((await client.createJourney({ body: { name: 'Renewal' } })).response.status).toBe(201)
    expect((await fetch(`${cairn.url}/readyz`)).status).toBe(200)
  })

  it('does not affect what is committed in the same moment', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        if (index % 2 === 0) return (await client.createEvent({ body: event })).response.status
        const customer = { client_customer_id: `c-${index}`, journey_id, customer_name: 'C' }
        const { response } = await client.initializeCustomer({
          body: { ...customer, customer_type: 'contact' },
        })
        return response.status
      }),
    )
    expect(answers).toEqual(answers.map((_, index) => (index % 2 === 0 ? 500 : 201)))
    expect((await client.listCustomers()).data?.data).toHaveLength(21)
  })
})
