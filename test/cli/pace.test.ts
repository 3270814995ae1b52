// engines: none (opens no store)

import { expect, it } from 'vitest'
import { Pace } from '../../server/cli/import/pace.ts'

it('events that a proxy refused as too large do not use up the quota of the key', async () => {
  const pace = new Pace()
  const headers = { ratelimit: '"events";r=10;t=0', 'ratelimit-policy': '"events";q=10;w=100000' }
  pace.settle(0, new Response('', { headers }))
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
  const answer = (left: number) =>
    new Response('', {
      headers: { ratelimit: `"events";r=${left};t=0`, 'ratelimit-policy': '"events";q=10;w=100000' },
    })
  pace.settle(0, answer(10))
  const ended = AbortSignal.abort()
  await pace.take(5, ended)
  await pace.take(5, ended)
  // The server has not received the second five yet.
  pace.settle(5, answer(5))
  await expect(pace.take(1, ended)).rejects.toThrow('aborted')
})

it('more events than the quota ever has wait for all of it, not forever', async () => {
  const pace = new Pace()
  const headers = { ratelimit: '"events";r=2;t=0', 'ratelimit-policy': '"events";q=2;w=100000' }
  pace.settle(0, new Response('', { headers }))
  const ended = AbortSignal.abort()
  await pace.take(5, ended)
  await expect(pace.take(1, ended)).rejects.toThrow('aborted')
})
