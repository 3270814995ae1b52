// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'

it('/readyz writes to the disk at most once a second, however often it is asked', async () => {
  const cairn = await startCairnForTest()
  const commits = async () => sumOf(await scrape(cairn), 'cairn_commit_duration_seconds_count')
  const began_ms = performance.now()
  // A scrape looks, too.
  const before = await commits()
  const ask = async () => (await fetch(`${cairn.url}/readyz`)).status
  for (let round = 0; round < 10; round += 1) {
    const statuses = await Promise.all(Array.from({ length: 20 }, ask))
    expect(new Set(statuses)).toEqual(new Set([200]))
  }
  const made = (await commits()) - before
  expect(made).toBeLessThanOrEqual(Math.floor((performance.now() - began_ms) / 1000))
  await expect.poll(commits).toBeGreaterThan(before)
})
