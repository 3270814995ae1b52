// engines: sqlite (what only SQLite has)

import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServer, startChildServerWithCustomer } from '../../fixtures/child-server.ts'

const names = { workspace: 'Acme', journey: 'Onboarding' }

/** The modes of the files in a folder, and of the folder itself as `.`. */
function modes(folder: string): Record<string, string> {
  const files = ['.', ...readdirSync(folder)]
  return Object.fromEntries(files.map((name) => [name, modeOf(join(folder, name))]))
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

const whileServing = {
  '.': '700',
  'cairn.db': '600',
  'cairn.db-wal': '600',
  'cairn.db-shm': '600',
  'cairn.db-standings': '600',
  'cairn.db-standings-wal': '600',
  'cairn.db-standings-shm': '600',
  'cairn.db.lock': '600',
}

describe('only its owner can access a store', () => {
  it('in a folder of its own, while it is served', async () => {
    const folder = join(temporaryFolder(), 'data')
    mkdirSync(folder)
    await startChildServer({ databaseUrl: `sqlite:${folder}/cairn.db` })
    expect(modes(folder)).toEqual(whileServing)
  })

  it('created by a command', async () => {
    const folder = join(temporaryFolder(), 'data')
    await createWorkspace(`sqlite:${folder}/cairn.db`, names)
    expect(modes(folder)).toEqual({ '.': '700', 'cairn.db': '600' })
  })

  it('that everybody could read, from the next start on', async () => {
    const folder = join(temporaryFolder(), 'data')
    const databaseUrl = `sqlite:${folder}/cairn.db`
    mkdirSync(folder)
    const first = await startChildServer({ databaseUrl })
    // A killed server leaves its write-ahead log too.
    await first.end('SIGKILL')
    expect(modes(folder)).toEqual(whileServing)
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644)
    chmodSync(folder, 0o755)
    await startChildServer({ databaseUrl })
    expect(modes(folder)).toEqual(whileServing)
  })

  it('reached through a link', async () => {
    const { databaseUrl, server } = await startChildServerWithCustomer()
    const path = sqlitePath(databaseUrl)
    await server.end('SIGTERM')
    chmodSync(path, 0o644)
    const link = join(temporaryFolder(), 'other.db')
    symlinkSync(path, link)
    await createWorkspace(`sqlite:${link}`, names)
    expect(modeOf(path)).toBe('600')
  })
})

describe('a folder', () => {
  it('with other content is left unchanged', async () => {
    const folder = join(temporaryFolder(), 'shared')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'index.html'), '')
    chmodSync(join(folder, 'index.html'), 0o644)
    await createWorkspace(`sqlite:${folder}/cairn.db`, names)
    expect(modes(folder)).toEqual({ '.': '755', 'cairn.db': '600', 'index.html': '644' })
  })

  it('with the sticky bit is left unchanged', async () => {
    const folder = join(temporaryFolder(), 'tmp')
    mkdirSync(folder)
    chmodSync(folder, 0o1777)
    await createWorkspace(`sqlite:${folder}/cairn.db`, names)
    expect(modes(folder)).toEqual({ '.': '777', 'cairn.db': '600' })
  })
})
