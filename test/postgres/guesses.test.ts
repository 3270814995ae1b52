// engines: postgres (what only PostgreSQL has)

import { expect, it } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { newEmail, newPerson, OWN_PAGE } from '../fixtures/people.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

const WRONG = 'a wrong password'

it('wrong guesses count on every server, and so does the right one', async () => {
  let now = Date.now()
  const databaseUrl = await newDatabase()
  const options = { databaseUrl, now: () => now }
  const replicas = [await startCairnForTest(options), await startCairnForTest(options)] as const
  const [first, second] = replicas
  const { email, password } = await newPerson(first)
  const guess = async (at: typeof first, by: { email: string; password: string }) => {
    const headers = { ...OWN_PAGE, 'content-type': 'application/json' }
    const reply = await at.fetch('/session', { method: 'POST', headers, body: JSON.stringify(by) })
    return reply.status
  }
  const wrong = { email, password: WRONG }
  for (let count = 0; count < 5; count += 1) {
    expect(await guess(count % 2 === 0 ? first : second, wrong)).toBe(401)
  }
  for (const replica of replicas) expect(await guess(replica, { email, password })).toBe(429)
  // Other people need not wait.
  expect(await guess(second, { email: newEmail(), password: WRONG })).toBe(401)

  now += 60_000
  expect(await guess(second, { email, password })).toBe(201)
  // Everywhere the person's wrong guesses are forgotten.
  for (let count = 0; count < 4; count += 1) expect(await guess(first, wrong)).toBe(401)
  expect(await guess(second, { email, password })).toBe(201)
})

it('concurrent guesses on several servers do not slip through', async () => {
  const databaseUrl = await newDatabase()
  const now_ms = Date.now()
  const options = { databaseUrl, now: () => now_ms }
  const replicas = [await startCairnForTest(options), await startCairnForTest(options)]
  const email = newEmail()
  const body = JSON.stringify({ email, password: WRONG })
  const headers = { ...OWN_PAGE, 'content-type': 'application/json' }
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      replicas[index % 2]?.fetch('/session', { method: 'POST', headers, body }),
    ),
  )
  const statuses = replies.map((reply) => reply?.status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(5)
  expect(statuses.filter((status) => status === 429)).toHaveLength(15)
})
