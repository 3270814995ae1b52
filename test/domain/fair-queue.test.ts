// engines: none (opens no store)

import { expect, it } from 'vitest'
import { FairQueue, type Owner } from '../../server/domain/fair-queue.ts'

it('evicts from the caller with the most waiting, and never for one that has as many', () => {
  const queue = new FairQueue<{ owner: Owner; name: string }>({ perCaller: 10, inAll: 5 })
  const add = (workspaceId: string, caller: string, name: string) =>
    queue.add({ owner: { workspaceId, caller }, name })
  expect(['1', '2', '3'].map((name) => add('crowd', name === '3' ? 'b' : 'a', name))).toEqual([
    true,
    true,
    true,
  ])
  expect([add('other', 'c', '4'), add('other', 'c', '5'), add('new', 'd', '6')]).toEqual([true, true, false])
  expect(queue.crowdOut({ workspaceId: 'crowd', caller: 'e' })).toBeUndefined()
  expect(queue.crowdOut({ workspaceId: 'other', caller: 'c' })).toBeUndefined()
  // The last request of the caller with the most.
  expect(queue.crowdOut({ workspaceId: 'new', caller: 'd' })).toMatchObject({ name: '2' })
  expect(add('new', 'd', '6')).toBe(true)
  expect(queue.crowdOut({ workspaceId: 'more', caller: 'f' })).toMatchObject({ name: '1' })
  expect(queue.size).toBe(4)
})

it('begins items of one workspace after another, and of each as many as may be in progress', () => {
  const queue = new FairQueue<{ owner: Owner; name: string }>({ perCaller: 1, inAll: 10, inProgress: 2 })
  const begin = () => queue.begin()?.name
  const add = (workspaceId: string, name: string) => queue.add({ owner: { workspaceId, caller: name }, name })
  for (const name of ['1', '2', '3']) add('crowd', name)
  add('other', '4')
  const first = queue.begin()
  expect([first?.name, begin(), begin(), begin()]).toEqual(['1', '4', '2', undefined])
  if (first) queue.end(first)
  expect([begin(), begin()]).toEqual(['3', undefined])
})
