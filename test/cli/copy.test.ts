// engines: sqlite, postgres

import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { newStore, startCairn, startCairnForTest, unmadeStore } from '../fixtures/cairn.ts'
import { spawnCairn } from '../fixtures/command.ts'
import { copy, expectNothingToldAgain, expectSameCopy, filled, seen } from '../fixtures/copied-store.ts'
import { engine } from '../fixtures/engine.ts'
import { newSubject, openStore } from '../fixtures/store.ts'
import { beginErasure } from '../storage/erase.ts'

/**
 * Code by which the process kills itself once it has reported that some events are copied. By its clock every report comes a
 * second after the one before, so none is left out.
 */
const KILLED_IN_EVENTS = `
  let now_ms = Date.now()
  Date.now = () => (now_ms += 1000)
  const { stderr } = process
  const write = stderr.write
  stderr.write = (text) => {
    write.call(stderr, text)
    if (text.startsWith('copying events')) process.kill(process.pid, 'SIGKILL')
    return true
  }`

describe('cairn copy', () => {
  it('copies a whole store, so that no caller notices', async () => {
    await expectSameCopy(await filled(), await unmadeStore())
  })

  it('tells no webhook again what it was told before, and all that it was not', async () => {
    await expectNothingToldAgain(await newStore(), await unmadeStore())
  })

  it('counts what is sent from then on, also into a store that existed before', async () => {
    const { cairn, workspace } = await filled()
    await cairn.stop()
    const before_ms = Date.now()
    // Its tables were created when this run of the tests began.
    const to = await newStore()
    expect(await copy(cairn.databaseUrl, to)).toMatchObject({ code: 0, stderr: '' })
    const there = await startCairnForTest({ databaseUrl: to })
    const { data } = await there.client(workspace.secret_key).getActivity({ query: { by: 'minute' } })
    expect(data?.total.created).toBe(0)
    expect(Date.parse(data?.kept_from ?? '')).toBeGreaterThanOrEqual(before_ms)
  })

  it('copies nothing into a store that has data', async () => {
    const store = await filled()
    await store.cairn.stop()
    const other = await filled()
    const before = await seen(other.cairn, other)
    await other.cairn.stop()
    const refused = await copy(store.cairn.databaseUrl, other.cairn.databaseUrl)
    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).toContain('the target is not empty')
    const there = await startCairn({ databaseUrl: other.cairn.databaseUrl })
    expect(await seen(there, other)).toEqual(before)
    await there.stop()
  })

  it('is refused if the source is not a store, and leaves it as it is', async () => {
    const from = await unmadeStore()
    if (engine === 'sqlite') writeFileSync(sqlitePath(from), '')
    // Twice: the first does not make it one.
    for (let times = 0; times < 2; times += 1) {
      const refused = await copy(from, await unmadeStore())
      expect(refused).toMatchObject({ code: 3, stdout: '' })
      expect(refused.stderr).toContain('there is no store')
    }
  })

  it('is refused while something is being removed', async () => {
    const store = await openStore()
    await beginErasure(store, await newSubject(store))
    await store.close()
    const refused = await copy(store.databaseUrl, await unmadeStore())
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('The store has an unfinished removal.')
  })

  it('says which of the two URLs is wrong', async () => {
    const store = await newStore()
    const nowhere = 'postgres://cairn@127.0.0.1:1/cairn'
    const missing = 'sqlite:/missing/folder/cairn.db'
    for (const [from, to, message] of [
      [nowhere, store, '--from: Cannot use the database: 127.0.0.1:1: '],
      [store, nowhere, '--to: 127.0.0.1:1: '],
      [await unmadeStore(), store, '--from: there is no store '],
      [store, missing, 'the folder /missing/folder of the store does not exist. '],
    ] as const) {
      const { code, stderr } = await copy(from, to)
      expect(code).toBeGreaterThan(0)
      expect(stderr).toContain(`cairn: ${message}`)
      if (to === missing) expect(stderr).toMatch(/, or correct --to\n$/)
    }
  })

  it('is refused while a server runs on the store', async () => {
    const { cairn } = await filled()
    const to = await unmadeStore()
    const refused = await spawnCairn(['copy', '--from', cairn.databaseUrl, '--to', to]).ended
    expect(refused.code).toBe(3)
    expect(refused.stderr).toMatch(/Stop (it|all of them) first/)
    await cairn.stop()
  })

  it('resumes where it was killed, and nothing is served before it has finished', async () => {
    const { cairn, workspace, event } = await filled()
    const events = Array.from({ length: 1000 }, (_, number) => ({
      ...event,
      message_id: `message ${number}`,
    }))
    await workspace.client.createEvents({ body: { events } })
    for (let batch = 0; batch < 30; batch += 1) {
      await workspace.client.createEvents({ body: { events: Array(1000).fill(event) } })
    }
    const { data: before } = await workspace.client.listEvents({ query: { limit: 500 } })
    await cairn.stop()
    const to = await unmadeStore()
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(KILLED_IN_EVENTS)}`
    const killed = spawnCairn(['copy', '--from', cairn.databaseUrl, '--to', to], {
      environment: { NODE_OPTIONS },
    })
    const { signal, stderr } = await killed.ended
    expect(signal).toBe('SIGKILL')
    const [, copied] = /^copying events: (\d+) of 31007\n$/m.exec(stderr) ?? []
    expect(Number(copied)).toBeLessThan(31_007)
    await expect(startCairn({ databaseUrl: to })).rejects.toThrow('is unfinished')

    const ended = await copy(cairn.databaseUrl, to)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ended.stdout).events).toBe(31_007)
    const there = await startCairn({ databaseUrl: to })
    const client = there.client(workspace.secret_key)
    expect((await client.listEvents({ query: { limit: 500 } })).data).toEqual(before)
    const { data } = await client.createEvents({ body: { events } })
    expect(data).toMatchObject({ created: 0, duplicate: 1000 })
    await there.stop()
  })
})
