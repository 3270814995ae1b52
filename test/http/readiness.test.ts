// engines: sqlite, postgres

import { expect, it, onTestFinished, vi } from 'vitest'
import { sharedLook } from '../../server/http/readiness.ts'
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

it('begins no check of the disk while another has not ended, however long that takes', async () => {
  let now_ms = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
  onTestFinished(() => clock.mockRestore())
  const checks: PromiseWithResolvers<void>[] = []
  const check = sharedLook(() => {
    const begun = Promise.withResolvers<void>()
    checks.push(begun)
    return begun.promise
  })
  const first = check()
  now_ms += 10_000
  expect(check()).toBe(first)
  expect(checks).toHaveLength(1)
  checks[0]?.resolve()
  await first
  void check()
  expect(checks).toHaveLength(2)
})
