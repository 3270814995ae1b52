// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import { erasedDelivery, eventMessage } from '../../server/domain/webhook-messages.ts'

const webhookIds = [newId('whk'), newId('whk')] as const
const earlier = 'cus_01jd3zc4s7e9qv6x0m2n5b8wtr'
const later = 'cus_01jd3zc4s8e9qv6x0m2n5b8wtr'

function idOf(webhookId: string, customerId: string): string {
  return erasedDelivery(webhookId, customerId, 0).delivery_id
}

describe('the webhook-id of a message', () => {
  it('is the same whenever it is made, and of each webhook and subject its own', () => {
    const [one, other] = webhookIds
    const ids = [idOf(one, earlier), idOf(one, later), idOf(other, earlier)]
    expect(new Set(ids).size).toBe(3)
    expect(idOf(one, earlier)).toBe(ids[0])
  })

  it('sorts by the time of what the message is about', () => {
    for (const one of webhookIds)
      for (const other of webhookIds) expect(idOf(one, earlier) < idOf(other, later)).toBe(true)
  })
})

describe('the message about an event', () => {
  it('has at most 20,000 bytes: of a larger event it has a link instead of the variables', () => {
    const event = {
      id: 'evt_01jd3zc4s7e9qv6x0m2n5b8wtr',
      journey_id: 'jrn_01jd3zc4s7e9qv6x0m2n5b8wtr',
      customer_id: earlier,
      customer_name: 'Ada',
      client_customer_id: 'user-1',
      event_id: 'signed_up',
      custom_variables: { note: '' },
      occurred_at: '2026-11-20T08:00:00.000Z',
      received_at: '2026-11-20T08:00:00.000Z',
      message_id: null,
      key_id: null,
    }
    const withNote = (note: string) => eventMessage({ ...event, custom_variables: { note } })
    const left = 20_000 - Buffer.byteLength(withNote(''))
    // Each of these letters takes two bytes.
    const longest = 'é'.repeat(left / 2) + 'e'.repeat(left % 2)
    expect(JSON.parse(withNote(longest)).data).toMatchObject({
      custom_variables: { note: longest },
      link: null,
    })
    expect(JSON.parse(withNote(`${longest}e`)).data).toMatchObject({
      custom_variables: null,
      link: `/events?id=${event.id}`,
    })
  })
})
