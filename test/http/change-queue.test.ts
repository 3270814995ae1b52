// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { ChangeQueue } from '../../server/http/rates/change-queue.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { connectTo, holdWrites } from '../fixtures/store.ts'

/** Owners of transactions, in a queue that is busy until `open` is called. */
function busyQueue() {
  const queue = new ChangeQueue()
  const gate = Promise.withResolvers<void>()
  const ended: string[] = []
  const first = queue.run({ workspaceId: 'first', caller: 'first' }, () => gate.promise)
  const add = async (workspaceId: string, caller = 'key') => {
    const label = `${workspaceId} ${caller}`
    try {
      await queue.run({ workspaceId, caller }, async () => void ended.push(label))
    } catch {
      ended.push(`${label} refused`)
    }
  }
  const open = async () => {
    gate.resolve()
    await first
  }
  return { queue, add, open, ended }
}

it('transactions of requests take turns by workspace, and by caller within each', async () => {
  const { queue, add, open, ended } = busyQueue()
  const all = [add('a', '1'), add('a', '1'), add('a', '1'), add('a', '2'), add('b'), add('b')]
  expect([queue.waiting, ended]).toEqual([6, []])
  await open()
  await Promise.all(all)
  expect(ended).toEqual(['a 1', 'b key', 'a 2', 'b key', 'a 1', 'a 1'])
  expect(queue.waiting).toBe(0)
  await add('c')
  expect(ended.at(-1)).toBe('c key')
})

it('a transaction that fails passes its turn on', async () => {
  const queue = new ChangeQueue()
  const owner = { workspaceId: 'a', caller: 'key' }
  const failed = queue.run(owner, () => Promise.reject(new Error('of the first')))
  const next = queue.run(owner, async () => 'next')
  await expect(failed).rejects.toThrow('of the first')
  expect(await next).toBe('next')
})

it('a hundred wait per caller, and the last of whoever has the most makes room for another workspace', async () => {
  const { queue, add, open, ended } = busyQueue()
  const all = Array.from({ length: 101 }, () => add('a', '0'))
  for (let caller = 1; caller < 10; caller += 1) {
    all.push(...Array.from({ length: 100 }, () => add('a', `${caller}`)))
  }
  await expect.poll(() => ended).toEqual(['a 0 refused'])
  expect(queue.waiting).toBe(1_000)
  all.push(add('b'))
  await expect.poll(() => ended).toHaveLength(2)
  expect([queue.waiting, ended[1]]).toEqual([1_000, 'a 0 refused'])
  await open()
  await Promise.all(all)
  expect(ended.indexOf('b key')).toBe(3)
  expect(ended).toHaveLength(1_002)
})

it('a caller at its limit takes nobody else’s place', async () => {
  const { queue, add, open, ended } = busyQueue()
  const all = ['1', '2'].flatMap((caller) => Array.from({ length: 80 }, () => add('b', caller)))
  all.push(...Array.from({ length: 101 }, () => add('a')))
  await expect.poll(() => ended).toEqual(['a key refused'])
  expect(queue.waiting).toBe(260)
  await open()
  await Promise.all(all)
  expect(ended.filter((label) => label.endsWith('refused'))).toHaveLength(1)
})

it('a key that changes more at once than may wait is refused at once', async () => {
  const cairn = await startCairnForTest()
  const { secret_key, journey_id } = await cairn.workspace()
  const codes: string[] = []
  const rename = async () => {
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    const answer = await cairn.fetch(`/journeys/${journey_id}`, {
      method: 'PATCH',
      headers,
      body: '{"name":"New"}',
    })
    codes.push(answer.ok ? 'changed' : (await answer.json()).code)
  }
  const release = await holdWrites(await connectTo(cairn.databaseUrl))
  const changes = Array.from({ length: 150 }, rename)
  // One of them has its turn, and a hundred wait.
  const overloaded = () => codes.filter((code) => code === 'overloaded').length
  await expect.poll(overloaded, withPatience).toBeGreaterThanOrEqual(49)
  await release()
  await Promise.all(changes)
  await rename()
  expect(codes.at(-1)).toBe('changed')
})
