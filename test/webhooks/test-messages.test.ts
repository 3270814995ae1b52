// engines: none (a test message is not stored)

import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ServedStorage } from '../../server/storage/storage.ts'
import type { StoredWebhook } from '../../server/storage/tables/webhooks.ts'
import { readNetwork } from '../../server/webhooks/networks.ts'
import { RequestSender } from '../../server/webhooks/safe-request.ts'
import { SecretBox } from '../../server/webhooks/secret-box.ts'
import { Webhooks } from '../../server/webhooks/webhooks.ts'
import { startReceiver } from '../fixtures/receiver.ts'

it('tests of a webhook at the same time send one message, and have one result', async () => {
  const receiver = await startReceiver()
  const allow = [readNetwork('127.0.0.1')].filter((network) => network !== undefined)
  const sender = new RequestSender({ allow })
  const webhooks = new Webhooks({
    storage: {} as ServedStorage,
    sender,
    secrets: new SecretBox({ key: randomBytes(32) }),
    now: Date.now,
    version: '1.1.0',
    begin: () => {},
  })
  const webhook_id = 'whk_01jd4b2k5n8q1s4v7y0b3e6g9h'
  const { secret, sealed } = webhooks.newSecret(webhook_id)
  receiver.secrets.push(secret)
  const webhook = { webhook_id, url: receiver.url, secret: sealed, previous_secret: null } as StoredWebhook
  const results = await Promise.all(Array.from({ length: 10 }, () => webhooks.test(webhook)))
  expect(results.map(({ status_code }) => status_code)).toEqual(Array(10).fill(204))
  expect(receiver.types).toEqual(['webhook.test'])
  // The next one is another.
  await webhooks.test(webhook)
  expect(receiver.received).toHaveLength(2)
  sender.close()
})
