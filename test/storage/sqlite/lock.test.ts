import { readdirSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { temporaryFolder } from '../../cairn.ts'
import { serve, startChildServer } from '../../child-server.ts'
import { openStoreForTest } from './file-store.ts'

const another =
  /^cairn: Another Cairn server is running on .+\. Stop it, or give this one another DATABASE_URL\.\n$/

describe('a second server on one file', () => {
  it('ends at once with a message, and the first goes on', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const first = await startChildServer({ databaseUrl })
    const second = await serve({ databaseUrl }).ended
    expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(another) })
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    const { secret_key } = await createWorkspace(databaseUrl, { workspace: 'A', journey: 'B' })
    const { response } = await first.client(secret_key).createJourney({ body: { name: 'Renewal' } })
    expect(response.status).toBe(201)
  })

  it('starts at once where the first was killed', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const first = await startChildServer({ databaseUrl })
    expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    const second = await startChildServer({ databaseUrl })
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
  })

  it('is one of two that start at the same moment', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const starts = await Promise.allSettled([
      startChildServer({ databaseUrl }),
      startChildServer({ databaseUrl }),
    ])
    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it.each([
    ['a relative path', (path: string) => relative('.', path)],
    [
      'a path with a detour',
      (path: string) => `${dirname(path)}/../${basename(dirname(path))}//./${basename(path)}`,
    ],
    [
      'a symbolic link to the file',
      (path: string) => {
        const link = join(temporaryFolder(), 'other.db')
        symlinkSync(path, link)
        return link
      },
    ],
    [
      'a symbolic link to the folder',
      (path: string) => {
        const link = join(temporaryFolder(), 'other')
        symlinkSync(dirname(path), link)
        return join(link, 'cairn.db')
      },
    ],
  ])('is known by %s', async (_name, otherName) => {
    const first = await openStoreForTest()
    const second = openStoreForTest({ path: otherName(first.path) })
    await expect(second).rejects.toThrow('Another Cairn server is running on')
  })

  it('is known by a symbolic link to a file that has not been made yet', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const link = join(temporaryFolder(), 'other.db')
    symlinkSync(path, link)
    await openStoreForTest({ path: link })
    await expect(openStoreForTest({ path })).rejects.toThrow('Another Cairn server')
    await expect(openStoreForTest({ path: link })).rejects.toThrow('Another Cairn server')
  })

  it('is known by a symbolic link to a folder in which no file has been made yet', async () => {
    const folder = temporaryFolder()
    const link = join(temporaryFolder(), 'other')
    symlinkSync(folder, link)
    const first = await openStoreForTest({ path: join(link, 'cairn.db') })
    await expect(openStoreForTest({ path: join(folder, 'cairn.db') })).rejects.toThrow('Another Cairn server')
    expect(readdirSync(folder)).toContain('cairn.db')
    await first.close()
    await openStoreForTest({ path: join(folder, 'cairn.db') })
  })
})
