// engines: postgres (what only PostgreSQL has)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { programsForTests } from '../fixtures/postgres/programs.ts'
import { postgresUrl, startPostgresServer } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'

describe('the server of a run', () => {
  it('provides isolated databases', async () => {
    const [first, second] = [await newDatabase(), await newDatabase()]
    await runSql(first, 'CREATE TABLE things (name text)')
    const tables = "SELECT tablename FROM pg_tables WHERE tablename = 'things'"
    expect(await runSql(first, tables)).toHaveLength(1)
    expect(await runSql(second, tables)).toEqual([])
  })

  it('sorts texts linguistically, so that what relies on the order of bytes is found', async () => {
    const sorted =
      "SELECT string_agg(name, ' ' ORDER BY name) AS names FROM unnest(ARRAY['B', 'a', 'C']) name"
    expect(await runSql(await newDatabase(), sorted)).toEqual([{ names: 'a B C' }])
  })
})

describe('a server of a test', () => {
  it('has all durability settings on, and keeps what it promised when it is killed', async () => {
    const server = await startPostgresServer(programsForTests())
    onTestFinished(server.remove)
    const url = postgresUrl(server.folder)
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      expect(await runSql(url, `SHOW ${name}`)).toEqual([{ [name]: 'on' }])
    }
    await runSql(url, "CREATE TABLE things AS SELECT 'a' AS name")
    await server.end('SIGKILL')
    expect(server.pid()).toBeUndefined()
    await server.start()
    expect(await runSql(url, 'SELECT name FROM things')).toEqual([{ name: 'a' }])
  })

  it('leaves no process and no folder when the run is killed', async () => {
    const run = spawn(process.execPath, ['test/postgres/serve.ts'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(run.stdout.setEncoding('utf8'), 'data')
    const { folder, pid, url } = JSON.parse(line)
    expect(await runSql(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(existsSync(folder)).toBe(true)
    process.kill(pid, 0)
    run.kill('SIGKILL')
    await vi.waitUntil(() => !existsSync(folder), withPatience)
    // Until its new parent has taken notice of its end, it has a number.
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), withPatience)
  })
})
