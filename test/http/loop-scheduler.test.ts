// engines: none (opens no store)

import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Owner } from '../../server/domain/fair-queue.ts'
import { LoopScheduler } from '../../server/http/rates/loop-scheduler.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'

const greedy = { workspaceId: 'wsp_greedy', caller: 'key_1' }
const modest = { workspaceId: 'wsp_modest', caller: 'key_2' }

/** Longer than the scheduler needs to find out who uses how much. */
const LONG_MS = 500

/** Keeps the event loop busy: 95% of its time for the first owner, the rest for the second. */
async function keepBusy(scheduler: LoopScheduler, owner: Owner, other?: Owner) {
  const until = performance.now() + LONG_MS
  while (performance.now() < until) {
    await work(scheduler, owner, 19)
    if (other) await work(scheduler, other, 1)
    await nextRound()
  }
}

/**
 * Keeps the event loop busy until the first workspace must wait and the second need not. On a busy machine the system takes
 * time from the work of either.
 */
async function untilGreedyWaits(scheduler: LoopScheduler) {
  await expect
    .poll(async () => {
      await keepBusy(scheduler, greedy, modest)
      const turns = [greedy, modest].map((owner) => scheduler.begin(owner).next())
      await Promise.all(turns)
      return turns.map((turn) => turn instanceof Promise)
    })
    .toEqual([true, false])
}

async function work(scheduler: LoopScheduler, owner: Owner, time_ms: number) {
  const loop = scheduler.begin(owner)
  await loop.next()
  const until = performance.now() + time_ms
  while (performance.now() < until);
  loop.end()
}

describe('a busy event loop', () => {
  it('makes only the workspace that uses most wait', async () => {
    const scheduler = new LoopScheduler()
    await untilGreedyWaits(scheduler)
  })

  it('alternates between the callers of a workspace', async () => {
    const scheduler = new LoopScheduler()
    await untilGreedyWaits(scheduler)
    const order: string[] = []
    const waiting = ['key_1', 'key_1', 'key_1', 'key_2', 'key_2'].map(async (caller) => {
      const loop = scheduler.begin({ ...greedy, caller })
      await loop.next()
      order.push(caller)
    })
    await nextRound()
    // Each piece of work has taken some ten milliseconds, so a slice contains one of them.
    expect(order.length).toBeLessThan(waiting.length)
    await Promise.all(waiting)
    expect(order).toEqual(['key_1', 'key_2', 'key_1', 'key_2', 'key_1'])
  })

  it('makes nobody wait if only one workspace is active', async () => {
    const scheduler = new LoopScheduler()
    await keepBusy(scheduler, greedy)
    expect(scheduler.begin(greedy).next()).toBeUndefined()
  })

  it('makes nobody wait if there is time left', async () => {
    const scheduler = new LoopScheduler()
    await keepBusy(scheduler, greedy, modest)
    // On a busy machine this process may have no time left for some windows.
    await expect
      .poll(async () => {
        await sleep(LONG_MS)
        return [scheduler.begin(modest).next(), scheduler.begin(greedy).next()]
      })
      .toEqual([undefined, undefined])
  })

  it('refuses if a caller has very many waiting', async () => {
    const scheduler = new LoopScheduler()
    await untilGreedyWaits(scheduler)
    const waiting = Array.from({ length: 1_000 }, () => scheduler.begin(greedy).next())
    await expect(scheduler.begin(greedy).next()).rejects.toThrow(Unavailable)
    expect(scheduler.begin({ ...greedy, caller: 'key_3' }).next()).toBeInstanceOf(Promise)
    await Promise.all(waiting)
  })
})
