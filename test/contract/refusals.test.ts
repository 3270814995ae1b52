import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContractOperation } from './document.ts'
import { declaring, type Place, sendTo, UNKNOWN } from './requests.ts'
import { newCustomer, newJourney, openTarget, type Target } from './target.ts'

let target: Target

beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.stop())

async function newPlace(): Promise<Place> {
  const journey_id = await newJourney(target)
  const customer_id = await newCustomer(target, journey_id)
  return { send: target.send, key: target.secretKey, journey_id, customer_id }
}

type Cause = (operation: ContractOperation, place: Place) => Promise<Response>

/** A cause of each status that needs nothing but a key, for whatever operation declares it. */
const causes: Record<string, Cause> = {
  400: (operation, place) => sendTo(place, operation, { query: '?no_such_parameter=1' }),
  401: (operation, place) => sendTo(place, operation, { key: '' }),
  404: (operation, place) => sendTo({ ...place, journey_id: UNKNOWN, customer_id: UNKNOWN }, operation),
  409: async (operation, place) => {
    const step = { event_id: 'signed_up', name: 'Signed up' }
    if (operation.path.startsWith('/journeys')) {
      return await sendTo(place, operation, {
        body: JSON.stringify({ name: 'Renewal', steps: [step, step] }),
      })
    }
    const path = `/journeys/${place.journey_id}/archive`
    await place.send({ method: 'POST', path, headers: { 'x-service-key': place.key } })
    return await sendTo(place, operation)
  },
  413: (operation, place) =>
    sendTo(place, operation, { body: JSON.stringify({ name: 'x'.repeat(LARGEST_BYTES) }) }),
  415: (operation, place) => sendTo(place, operation, { type: 'text/plain' }),
}

/** The largest body that any operation takes. */
const LARGEST_BYTES = 4 * 1024 * 1024

describe.each(Object.entries(causes))(
  'every operation that declares %s answers its cause so',
  (status, cause) => {
    it.each(declaring(status))('%s', async (_id, operation) => {
      const reply = await cause(operation, await newPlace())
      expect(reply.status).toBe(Number(status))
    })
  },
)
