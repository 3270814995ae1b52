// engines: sqlite (what only SQLite has)

import { describe, it } from 'vitest'
import { sqlitePath } from '../../../../server/storage/sqlite/store-files.ts'
import { startChildServer, startChildServerWithCustomer } from '../../../fixtures/child-server.ts'
import { expectExact } from './kept-standings.ts'

const STEPS = ['signed_up', 'verified', 'invited', 'paid']

describe('a server that is killed', () => {
  it('while following, or rebuilding standings for other steps, continues and is exact', async () => {
    const first = await startChildServerWithCustomer()
    const { databaseUrl, secret_key, event } = first
    const { journey_id } = event
    let { server } = first
    let count = 0
    for (let round = 0; round < 4; round += 1) {
      const client = server.client(secret_key)
      const names = {
        client_customer_id: `user-${round + 2}`,
        customer_type: 'account',
        customer_name: 'Grace',
      } as const
      const { data } = await client.initializeCustomer({ body: { ...names, journey_id } })
      const customers = [event.customer_id, data?.customer_id ?? '']
      const steps = STEPS.slice(round % 2).toReversed()
      await client.updateJourney({
        path: { journey_id },
        body: { steps: (round < 2 ? STEPS : steps).map((event_id) => ({ event_id, name: event_id })) },
      })
      for (let batch = 0; batch < 5; batch += 1) {
        const events = Array.from({ length: 1_000 }, () => {
          count += 1
          const occurred_at = new Date(
            Date.UTC(2026, 0, 1) + ((count * 7_919) % 10_007) * 1_000,
          ).toISOString()
          const name = STEPS[(count * 31) % 5] ?? 'other'
          return { journey_id, customer_id: customers[count % 2] ?? '', event_id: name, occurred_at }
        })
        await client.createEvents({ body: { events } })
      }
      await server.end('SIGKILL')
      server = await startChildServer({ databaseUrl })
    }
    await expectExact(sqlitePath(databaseUrl), journey_id)
  })
})
