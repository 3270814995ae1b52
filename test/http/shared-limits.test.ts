import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { type LimitedKey, RateLimiter } from '../../server/http/rates/rate-limit.ts'
import { SharedCounts, sharedCountsMemory } from '../../server/http/rates/shared-counts.ts'
import { Problem } from '../../server/problems.ts'
import type { LimitThreadData } from './limit-thread.ts'

describe('a rate that threads share', () => {
  it('gives all of them together what it gives to one', async () => {
    const memory = sharedCountsMemory()
    const start = new SharedArrayBuffer(4)
    const workerData: LimitThreadData = { memory, start, attempts: 15_000 }
    const threads = Array.from({ length: 3 }, () => {
      return new Worker(new URL('./limit-thread.ts', import.meta.url), { workerData })
    })
    await Promise.all(threads.map((thread) => once(thread, 'message')))
    const taken = threads.map(async (thread) => Number((await once(thread, 'message'))[0]))
    Atomics.store(new Int32Array(start), 0, 1)
    Atomics.notify(new Int32Array(start), 0)
    const sum = (await Promise.all(taken)).reduce((sum, taken) => sum + taken)
    // The clock stands: the burst, once.
    expect(sum).toBe(20_000)
  })

  it('is counted like that of one thread, whatever is asked of it', () => {
    let now_ms = 1_000
    const options = { defaultRate: 5, now: () => now_ms }
    const alone = new RateLimiter(options)
    const memory = sharedCountsMemory()
    // Each asks the counts anew.
    const shared = [1, 2].map(() => new RateLimiter({ ...options, counts: new SharedCounts(memory) }))
    const random = randomNumbers(7)
    for (let step = 0; step < 20_000; step += 1) {
      now_ms += random(400)
      const network = random(2) === 0 ? {} : { network: `192.0.2.${random(5)}` }
      const key_id = `${'network' in network ? 'public' : 'secret'} ${random(4)}`
      const key: LimitedKey = { key_id, rate_limit: random(10) === 0 ? 3 : null, ...network }
      const ask = [
        (limiter: RateLimiter) => limiter.take(key),
        (limiter: RateLimiter) => limiter.takeRest(key, { count: 1 + (step % 15), refusal: step % 3 }),
        (limiter: RateLimiter) => limiter.giveBack(key, 1 + (step % 3)),
        (limiter: RateLimiter) => limiter.charge(key, step % 7),
      ][random(4)]
      if (!ask) throw new Error('nothing to ask')
      const told = (limiter: RateLimiter) => {
        try {
          return ask(limiter)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          return { code: error.code, ...error.headers }
        }
      }
      expect(told(shared[step % 2] as RateLimiter)).toEqual(told(alone))
    }
  })

  it('remembers a key that is in debt, however many others are used', () => {
    let now_ms = 1_000
    const counts = new SharedCounts(sharedCountsMemory())
    const limiter = new RateLimiter({ defaultRate: 5, now: () => now_ms, counts })
    const spent = { key_id: 'spent', rate_limit: null }
    limiter.charge(spent, 5_000)
    for (let count = 0; count < 200_000; count += 1) {
      limiter.take({ key_id: `key_${count}`, rate_limit: null })
      now_ms += 1
    }
    expect(() => limiter.take(spent)).toThrow('rate_limited')
  })
})

/** Whole numbers below a bound, the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}
