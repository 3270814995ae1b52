// engines: none (passwords are queued before the store is used)

import { expect, it } from 'vitest'
import { type Guessing, Passwords } from '../../server/http/callers/passwords.ts'

it('lets a known person verify a password however many others fill the queue', async () => {
  const passwords = new Passwords()
  const guess = (person: string) => passwords.matches('a wrong password', undefined, { person })
  const crowd = Array.from({ length: 6 }, (_, person) => Array.from({ length: 10 }, () => guess(`${person}`)))
  const owner = guess('owner')
  const outcomes = await Promise.allSettled(crowd.flat())
  expect(await owner).toBe(false)
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
  expect(passwords.statistics().known.waiting).toBe(0)
})

it('lets a known person verify a password however many others one workspace has invited', async () => {
  const passwords = new Passwords()
  const invited = Array.from({ length: 60 }, (_, index) =>
    passwords.hash('a new password', `person-${index}@example.com`, 'workspace'),
  )
  const outcomes = Promise.allSettled(invited)
  expect(await passwords.matches('a wrong password', undefined, { person: 'owner' })).toBe(false)
  await outcomes
})

it('lets one of the others go first after three known persons in a row', async () => {
  const passwords = new Passwords()
  const ended: string[] = []
  const guess = async (name: string, guessing: Guessing) => {
    await passwords.matches('a wrong password', undefined, guessing)
    ended.push(name)
  }
  // Two are compared at a time.
  const all = ['first', 'second'].map((person) => guess('known', { person }))
  all.push(guess('other', { network: '203.0.113.7' }))
  for (let count = 0; count < 10; count += 1) all.push(guess('known', { person: `person-${count}` }))
  await Promise.all(all)
  // Those that run side by side may end in either order.
  expect(ended.indexOf('other')).toBeLessThanOrEqual(7)
})
