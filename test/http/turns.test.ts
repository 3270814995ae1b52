// engines: sqlite, postgres

import { setImmediate as nextRound } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Owner } from '../../server/domain/fair-queue.ts'
import { Turns } from '../../server/http/rates/turns.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'

const greedy = { workspaceId: 'wsp_greedy', caller: 'key_1' }
const modest = { workspaceId: 'wsp_modest', caller: 'key_2' }

/** Longer than it takes to find out who uses how much. */
const LONG_MS = 500

/** Keeps the event loop busy: nineteen parts of twenty of its time for the first, the rest for the second. */
async function keepBusy(turns: Turns, owner: Owner, other?: Owner) {
  const until = performance.now() + LONG_MS
  while (performance.now() < until) {
    await work(turns, owner, 19)
    if (other) await work(turns, other, 1)
    await nextRound()
  }
}

async function work(turns: Turns, owner: Owner, time_ms: number) {
  const share = turns.shareOf(owner)
  await share.next()
  const until = performance.now() + time_ms
  while (performance.now() < until);
  share.rest()
}

describe('the turns of a busy event loop', () => {
  it('are taken by the workspace that uses most, and by no other', async () => {
    const turns = new Turns()
    await keepBusy(turns, greedy, modest)
    expect(turns.shareOf(modest).next()).toBeUndefined()
    const turn = turns.shareOf(greedy).next()
    expect(turn).toBeInstanceOf(Promise)
    await turn
  })

  it('come one after the other, for the callers of a workspace alternately', async () => {
    const turns = new Turns()
    await keepBusy(turns, greedy, modest)
    const order: string[] = []
    const waiting = ['key_1', 'key_1', 'key_1', 'key_2', 'key_2'].map(async (caller) => {
      const share = turns.shareOf({ ...greedy, caller })
      await share.next()
      order.push(caller)
    })
    await nextRound()
    // Each turn has taken some ten milliseconds: a slice is one of them.
    expect(order.length).toBeLessThan(waiting.length)
    await Promise.all(waiting)
    expect(order).toEqual(['key_1', 'key_2', 'key_1', 'key_2', 'key_1'])
  })

  it('are for nobody where one workspace alone is active', async () => {
    const turns = new Turns()
    await keepBusy(turns, greedy)
    expect(turns.shareOf(greedy).next()).toBeUndefined()
  })

  it('are for nobody when there is time left', async () => {
    const turns = new Turns()
    await keepBusy(turns, greedy, modest)
    await new Promise((resolve) => setTimeout(resolve, LONG_MS))
    expect(turns.shareOf(modest).next()).toBeUndefined()
    expect(turns.shareOf(greedy).next()).toBeUndefined()
  })

  it('are refused where a caller waits for very many', async () => {
    const turns = new Turns()
    await keepBusy(turns, greedy, modest)
    const waiting = Array.from({ length: 1_000 }, () => turns.shareOf(greedy).next())
    await expect(turns.shareOf(greedy).next()).rejects.toThrow(Unavailable)
    expect(turns.shareOf({ ...greedy, caller: 'key_3' }).next()).toBeInstanceOf(Promise)
    await Promise.all(waiting)
  })
})
