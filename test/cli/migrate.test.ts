// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { startCairnForTest, unmadeStore } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'

describe('cairn migrate', () => {
  it('creates an empty store, which a server then serves', async () => {
    const databaseUrl = await unmadeStore()
    const environment = { DATABASE_URL: databaseUrl }
    const done = { code: 0, stderr: '', stdout: 'The schema is up to date.\n' }
    expect(await runCairn(['member', 'list'], { environment })).toMatchObject({ code: 3 })
    expect(await runCairn(['migrate'], { environment })).toMatchObject(done)
    const cairn = await startCairnForTest({ databaseUrl })
    expect((await cairn.workspace()).client).toBeDefined()
    expect(await runCairn(['migrate'], { environment })).toMatchObject(done)
  })

  it('may be started several times at once', async () => {
    const environment = { DATABASE_URL: await unmadeStore() }
    const codes = [1, 2, 3].map(async () => (await spawnCairn(['migrate'], { environment }).ended).code)
    expect(await Promise.all(codes)).toEqual([0, 0, 0])
  })
})
