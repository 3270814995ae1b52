// engines: none (opens no store)

import { expect, it } from 'vitest'
import { FairQueue, type Owner } from '../../server/domain/fair-queue.ts'

it('evicts from the caller with the most waiting, and never for one that has as many', () => {
  const queue = new FairQueue<{ owner: Owner; name: string }>({ perCaller: 10, inAll: 5 })
  /** Returns the name of the item without a place. */
  const push = (workspaceId: string, caller: string, name: string) =>
    queue.push({ owner: { workspaceId, caller }, name })?.name
  const places = [
    ['crowd', 'a', '1'],
    ['crowd', 'a', '2'],
    ['crowd', 'b', '3'],
    ['other', 'c', '4'],
    ['other', 'c', '5'],
  ] as const
  for (const [workspaceId, caller, name] of places) expect(push(workspaceId, caller, name)).toBeUndefined()
  expect(push('crowd', 'e', '6')).toBe('6')
  expect(push('other', 'c', '7')).toBe('7')
  // The last request of the caller with the most.
  expect(push('new', 'd', '8')).toBe('2')
  expect(push('more', 'f', '9')).toBe('1')
  expect(queue.size).toBe(5)
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
