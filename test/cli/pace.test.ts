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
