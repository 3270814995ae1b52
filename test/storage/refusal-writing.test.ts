// engines: none (writes to a table that keeps nothing)

import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { hostileEvent, refusalsToNowhere, refusedItem } from './refusal-table.ts'

it('rejected requests are redacted in slices, and other work runs in between', async () => {
  const { refusals, written } = refusalsToNowhere()
  const head = hostileEvent()
  for (let item = 0; item < 990; item += 1) {
    refusals.offer(refusedItem(item), () => ({ head, bytes: head.length }))
  }
  expect(refusals.statistics().waiting).toBe(990)
  const closing = refusals.close().then(() => 'closed' as const)
  let rounds = 0
  while ((await Promise.race([closing, nextRound('open' as const)])) === 'open') rounds += 1
  expect(refusals.statistics()).toMatchObject({ waiting: 0, kept: 990 })
  expect(written).toContain(head.toString())
  // Each is read three times; a slice is 16 Ki characters.
  expect(rounds).toBeGreaterThan((990 * head.length * 2) / (16 * 1024))
})

it('long texts with nothing to redact are scanned in slices too', async () => {
  const { refusals } = refusalsToNowhere()
  const head = Buffer.from(JSON.stringify({ a: 'x'.repeat(16_000) }))
  for (let item = 0; item < 100; item += 1) {
    refusals.offer(refusedItem(item), () => ({ head, bytes: head.length }))
  }
  const closing = refusals.close().then(() => 'closed' as const)
  let rounds = 0
  while ((await Promise.race([closing, nextRound('open' as const)])) === 'open') rounds += 1
  expect(rounds).toBeGreaterThanOrEqual(50)
})

it('nothing is written before it is redacted, and nothing from memory that the request has reused', async () => {
  const { refusals, written } = refusalsToNowhere()
  const head = Buffer.from('{"password":"hunter2","a":"b"}')
  refusals.offer(refusedItem(0), () => ({ head, bytes: head.length }))
  head.fill('x')
  await refusals.close()
  expect(written).toContain('{"password":"[redacted by Cairn]","a":"b"}')
  expect(JSON.stringify(written)).not.toContain('hunter2')
})

it('the queue takes at most 16 MiB, even if nothing can be written', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { refusals } = refusalsToNowhere({ run: () => promise })
  const head = Buffer.from(JSON.stringify({ a: '"'.repeat(8000) }))
  for (let item = 0; item < 9_000; item += 1) {
    const key_id = `key_${item % 10}`
    refusals.offer(refusedItem(item, { key_id }), () => ({ head, bytes: head.length }))
  }
  const { waiting, leftOut } = refusals.statistics()
  expect(waiting * head.length).toBeLessThan(16 * 1024 * 1024)
  expect(waiting * head.length).toBeGreaterThan(12 * 1024 * 1024)
  expect(leftOut).toBeGreaterThan(7_000)
  resolve()
  await refusals.close()
})

it('the texts of rows written together are looked up among erased customers at once', async () => {
  let lookUps = 0
  const erasedNames = async () => ({
    erasures: 1,
    async among(texts: ReadonlySet<string>) {
      lookUps += 1
      return new Set(['erased'].filter((text) => texts.has(text)))
    },
  })
  const { refusals, written } = refusalsToNowhere({ erasedNames })
  for (let item = 0; item < 900; item += 1) {
    const values = Array.from({ length: 40 }, (_, index) => `value-${item}-${index}`)
    const head = Buffer.from(JSON.stringify(item === 700 ? ['erased', ...values] : values))
    refusals.offer(refusedItem(item), () => ({ head, bytes: head.length }))
  }
  await refusals.close()
  // 500 rows are written together.
  expect(lookUps).toBe(2)
  const texts = written.filter((value) => typeof value === 'string' && value.startsWith('["'))
  expect(texts).toHaveLength(899)
  expect(texts.join()).not.toContain('"erased"')
})

it('rejected requests are listed by names without secrets, of at most 255 characters', async () => {
  const { refusals, written } = refusalsToNowhere()
  const event_id = 'https://bob:hunter2@host/'
  const customer_id = `${'a'.repeat(245)} token=x`
  refusals.offer(refusedItem(0, { event_id, customer_id }), () => ({ head: Buffer.from('{}'), bytes: 2 }))
  await refusals.close()
  expect(written).toContain('https://[redacted by Cairn]@host/')
  expect(written).toContain(`${'a'.repeat(245)} token=[re`)
  expect(JSON.stringify(written)).not.toContain('hunter2')
})
