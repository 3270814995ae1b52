// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import { erasedDelivery } from '../../server/domain/webhook-messages.ts'

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
