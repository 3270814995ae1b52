// engines: none (writes to a table that keeps nothing)
// alone: measures the processor time of its own process

import { expect, it } from 'vitest'
import { processorTime_ms } from '../fixtures/processor-time.ts'
import { hostileEvent, refusalsToNowhere, refusedItem } from './refusal-table.ts'

it('rejecting a batch of events that take long to redact blocks nobody', async () => {
  const { refusals } = refusalsToNowhere()
  const head = hostileEvent()
  const offered_ms = await processorTime_ms(async () => {
    for (let item = 0; item < 990; item += 1) {
      refusals.offer(refusedItem(item), () => ({ head, bytes: head.length }))
    }
  })
  // 10 ms; redacting each at once would take 500 ms or more.
  expect(offered_ms).toBeLessThan(100)
  await refusals.close()
})
