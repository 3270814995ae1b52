// engines: none (opens no store)

import { expect, it } from 'vitest'
import { SpareTime } from '../../server/webhooks/spare-time.ts'

/** More than a period of its measurement. */
const BUSY_MS = 250

it.each([
  { rows: 20, waits: true },
  { rows: 19, waits: false },
])('a message waits while the thread is busy and $rows rows arrive: $waits', async ({ rows, waits }) => {
  const spareTime = new SpareTime()
  spareTime.noteRows(rows)
  keepBusy()
  expect(await waited(spareTime)).toBe(waits)
})

it('a message waits no more once no rows arrive, although the thread is busy', async () => {
  const spareTime = new SpareTime()
  spareTime.noteRows(1_000)
  keepBusy()
  expect(await waited(spareTime)).toBe(true)
  keepBusy()
  expect(await waited(spareTime)).toBe(false)
})

it('a message does not wait while rows arrive and the thread has time', async () => {
  const spareTime = new SpareTime()
  await expect
    .poll(
      async () => {
        spareTime.noteRows(1_000)
        return await waited(spareTime)
      },
      // The thread is idle between two looks, and that is what is measured.
      { interval: BUSY_MS },
    )
    .toBe(false)
})

function keepBusy() {
  const until_ms = performance.now() + BUSY_MS
  while (performance.now() < until_ms);
}

/** Whether it lets other work of the thread pass before it returns. */
async function waited(spareTime: SpareTime): Promise<boolean> {
  let hasReturned = false
  const waiting = spareTime.wait().then(() => {
    hasReturned = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  const isWaiting = !hasReturned
  await waiting
  return isWaiting
}
