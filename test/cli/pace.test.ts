// engines: none (opens no store)

import { expect, it, onTestFinished } from 'vitest'
import { Pace } from '../../server/cli/import/pace.ts'

/** A response that says how much of the quota is left. */
function withQuota(left: number, quota: number): Response {
  const policy = `"events";q=${quota};w=100000`
  return new Response('', { headers: { ratelimit: `"events";r=${left};t=0`, 'ratelimit-policy': policy } })
}

it('events that a proxy refused as too large do not use up the quota of the key', async () => {
  const pace = new Pace()
  pace.settle(0, withQuota(10, 10))
  // A take that would have to wait rejects.
  const ended = AbortSignal.abort()
  await pace.take(10, ended)
  await expect(pace.take(5, ended)).rejects.toThrow('aborted')
  pace.settle(10, new Response('', { status: 413 }))
  await pace.take(10, ended)
  await expect(pace.take(5, ended)).rejects.toThrow('aborted')
})

it('what is in flight is not available again, although a response does not include it', async () => {
  const pace = new Pace()
  pace.settle(0, withQuota(10, 10))
  const ended = AbortSignal.abort()
  await pace.take(5, ended)
  await pace.take(5, ended)
  // The server has not received the second five yet.
  pace.settle(5, withQuota(5, 10))
  await expect(pace.take(1, ended)).rejects.toThrow('aborted')
})

it('more events than the quota ever has wait for all of it, not forever', async () => {
  const pace = new Pace()
  pace.settle(0, withQuota(2, 2))
  const ended = AbortSignal.abort()
  await pace.take(5, ended)
  await expect(pace.take(1, ended)).rejects.toThrow('aborted')
})

it('a year that a proxy asks to wait is no timer that fires at once', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error) =>
    void (warning.name === 'TimeoutOverflowWarning' && warnings.push(warning))
  process.on('warning', warned)
  onTestFinished(() => {
    process.off('warning', warned)
  })
  const pace = new Pace()
  pace.settle(0, new Response('', { status: 429, headers: { 'retry-after': '31536000' } }))
  const stop = new AbortController()
  const taken = pace.take(1, stop.signal)
  // Node warns in the next tick.
  await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  await expect(taken).rejects.toThrow('aborted')
  expect(warnings).toEqual([])
})
