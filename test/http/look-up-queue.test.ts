// engines: none (credentials are queued before the store is used)

import { expect, it, onTestFinished, vi } from 'vitest'
import { LookUpQueue } from '../../server/http/callers/look-up-queue.ts'

/** A queue, and look-ups that end when they are told to. */
function newQueue() {
  const queue = new LookUpQueue()
  const begun: { network: string; end: (found: string) => void }[] = []
  const lookUp = (network: string) =>
    queue.run(network, () => new Promise<string>((end) => begun.push({ network, end })))
  const endAll = async () => {
    for (let next = begun.shift(); next; next = begun.shift()) {
      next.end(next.network)
      await new Promise(setImmediate)
    }
  }
  return { queue, begun, lookUp, endAll }
}

const networks = (begun: { network: string }[]) => begun.map(({ network }) => network)

it('lets a neighbour of the network wait beside it, and another network go next, however many look-ups one has waiting', async () => {
  const { begun, lookUp, endAll } = newQueue()
  const flood = Array.from({ length: 2000 }, () => lookUp('203.0.113.7'))
  const outcomes = Promise.allSettled(flood)
  const neighbour = lookUp('203.0.113.8')
  const neighbours = Promise.allSettled(Array.from({ length: 300 }, () => lookUp('203.0.113.8')))
  const other = lookUp('198.51.100.9')
  expect(networks(begun)).toEqual(Array(4).fill('203.0.113.7'))
  for (const { end } of begun.splice(0, 2)) end('')
  await new Promise(setImmediate)
  expect(networks(begun)).toContain('198.51.100.9')
  await endAll()
  expect(await other).toBe('198.51.100.9')
  expect(await neighbour).toBe('203.0.113.8')
  const refused = [...(await outcomes), ...(await neighbours)].filter(({ status }) => status === 'rejected')
  // Of 500 that may wait, one made room for the other network, and one was the first of the neighbour.
  expect(refused).toHaveLength(2300 - 4 - 500 + 2)
})

it('refuses what has waited for too long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { begun, lookUp } = newQueue()
  const outcomes = Promise.allSettled(Array.from({ length: 7 }, () => lookUp('203.0.113.7')))
  vi.advanceTimersByTime(5_000)
  for (const { end } of begun.splice(0)) end('found')
  expect((await outcomes).map(({ status }) => status)).toEqual([
    ...Array(4).fill('fulfilled'),
    ...Array(3).fill('rejected'),
  ])
  expect(begun).toEqual([])
})

it('goes on after a look-up that fails', async () => {
  const { queue, lookUp, endAll } = newQueue()
  const failing = Array.from({ length: 9 }, () =>
    queue.run('203.0.113.7', async () => {
      throw new Error('the store is gone')
    }),
  )
  const outcomes = await Promise.allSettled(failing)
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  const found = Array.from({ length: 6 }, () => lookUp('203.0.113.7'))
  await endAll()
  expect(await Promise.all(found)).toEqual(Array(6).fill('203.0.113.7'))
})
