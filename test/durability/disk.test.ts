import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { startChildServerWithCustomer } from '../child-server.ts'
import { scrape, sumOf } from '../http/exposition.ts'
import { connect, storedEvents } from '../storage/store.ts'

/** Lets the process write no file beyond this size, as a full disk would. */
function limitFiles(pid: number, bytes: number | 'unlimited') {
  return spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]).status === 0
}

it('acknowledges nothing while the disk takes nothing, and all again by itself when it does', async () => {
  const { path, server, client, event } = await startChildServerWithCustomer()
  const create = async (event_id: string) => {
    const { response, error } = await client.createEvent({ body: { ...event, event_id } })
    return error ? `${response.status} ${error.code} ${response.headers.get('retry-after')}` : response.status
  }
  expect(await create('before')).toBe(201)

  // There is room for the first pages of a transaction.
  if (!limitFiles(server.pid, statSync(`${path}-wal`).size + 10_000)) {
    // Where files cannot be limited from outside, the engine can still be told that there is no room.
    const file = connect(path)
    file.pragma('max_page_count = 1')
    expect(() => file.exec(`CREATE TABLE other AS SELECT randomblob(1000000)`)).toThrow('full')
    return
  }
  const answered = ['before']
  const refused: string[] = []
  for (let count = 0; refused.length < 5; count += 1) {
    const answer = await create(`full-${count}`)
    if (answer === 201) answered.push(`full-${count}`)
    else refused.push(String(answer))
  }
  expect(new Set(refused)).toEqual(new Set(['503 storage_unavailable 1']))
  limitFiles(server.pid, 1)
  const journey = await client.createJourney({ body: { name: 'Renewal' } })
  expect(journey.error).toMatchObject({ status: 503, code: 'storage_unavailable' })
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect((await client.listEvents()).data?.data).toHaveLength(answered.length)

  limitFiles(server.pid, 'unlimited')
  expect(await create('after')).toBe(201)
  expect((await client.createJourney({ body: { name: 'Renewal' } })).response.status).toBe(201)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  const samples = await scrape(server)
  expect(sumOf(samples, 'cairn_events_received_total')).toBe(answered.length + 1)
  expect(sumOf(samples, 'cairn_events_total', { outcome: 'created' })).toBe(answered.length + 1)
  expect(sumOf(samples, 'cairn_events_unavailable_total')).toBe(refused.length)
  expect(sumOf(samples, 'cairn_commit_failures_total')).toBeGreaterThanOrEqual(refused.length)
  expect(await server.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
  const file = new Database(path)
  expect(storedEvents(file)).toEqual([...answered, 'after'])
  expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
  file.close()
})
