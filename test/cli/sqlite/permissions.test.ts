// engines: sqlite (files and their modes)

import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { canBeKeptOut, deniedText, spawnKeptOut } from '../../fixtures/kept-out.ts'

/** A folder with a store, a file and an empty folder. */
async function newFolder() {
  const folder = temporaryFolder()
  const store = join(folder, 'store', 'cairn.db')
  const [file, empty] = [join(folder, 'file'), join(folder, 'empty')]
  for (const each of [dirname(store), empty]) mkdirSync(each)
  await createWorkspace(`sqlite:${store}`, { workspace: 'A', journey: 'B' })
  writeFileSync(file, '')
  onTestFinished(() => {
    // Only then can they be removed.
    for (const each of [dirname(store), empty]) chmodSync(each, 0o700)
  })
  return { folder, store, storeFolder: dirname(store), file, empty }
}

type Folder = Awaited<ReturnType<typeof newFolder>>

/** Runs a command that has nobody to talk to. */
function run({ folder, store }: Folder, words: string, more: Record<string, string> = {}) {
  const environment = { DATABASE_URL: `sqlite:${store}`, CAIRN_SERVICE_KEY: 'sk_any', PORT: '1', ...more }
  return spawnKeptOut(words.split(' '), { environment, folder }).ended
}

describe.runIf(canBeKeptOut())(
  'a permission that a command lacks is named, with the user and the path',
  () => {
    it.each([
      'serve',
      'migrate',
      'key list',
      'backup empty/b.db',
      'copy --from sqlite:store/cairn.db --to sqlite:c.db',
    ])('of the store: cairn %s', async (words) => {
      const own = await newFolder()
      chmodSync(own.storeFolder, 0o600)
      const entered = await run(own, words)
      expect(entered).toMatchObject({ code: 1, stdout: '' })
      expect(entered.stderr).toContain(`${deniedText('enter the folder', own.storeFolder)}\n`)
      chmodSync(own.storeFolder, 0o700)
      chmodSync(own.store, 0o200)
      const read = await run(own, words)
      expect(read).toMatchObject({ code: 1, stdout: '' })
      expect(read.stderr).toContain(`${deniedText('read', own.store)}\n`)
      expect(readdirSync(own.empty)).toEqual([])
    })

    it.each(['serve', 'restore file', 'setup-link'])('to write the store: cairn %s', async (words) => {
      const own = await newFolder()
      copyFileSync(own.store, own.file)
      chmodSync(own.store, 0o400)
      const refused = await run(own, words)
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toContain(`${deniedText('write', own.store)}\n`)
      expect(readdirSync(own.storeFolder).filter((name) => name.includes('replaced'))).toEqual([])
    })

    it.each(['serve', 'copy --from sqlite:store/cairn.db --to sqlite:c.db'])(
      'of the file of erasures, which does not count as an empty one: cairn %s',
      async (words) => {
        const own = await newFolder()
        chmodSync(own.empty, 0o600)
        const refused = await run(own, words, { CAIRN_ERASURES_FILE: join(own.empty, 'erasures') })
        expect(refused).toMatchObject({ code: 1, stdout: '' })
        expect(refused.stderr).toContain(`${deniedText('enter the folder', own.empty)}\n`)
      },
    )

    it.each([
      'import file',
      'import file --refused missing/refused',
      'restore file',
      'plan push file',
      'export events NEW --since file',
      'plan pull NEW --key-file file',
    ])('of a file to be read: cairn %s', async (words) => {
      const own = await newFolder()
      chmodSync(own.file, 0o200)
      const stderr = `cairn: ${deniedText('read', own.file)}\n`
      expect(await run(own, words)).toEqual({ code: 1, signal: null, stdout: '', stderr })
    })

    it.each([
      'export events empty/new',
      'export workspace empty/new',
      'backup empty/new',
      'backup --keep 1 empty',
    ])('of the folder of a file to be written: cairn %s', async (words) => {
      const own = await newFolder()
      chmodSync(own.empty, 0o500)
      const { code, stdout, stderr } = await run(own, words)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(`${deniedText('create files in the folder', own.empty)}\n`)
      chmodSync(own.empty, 0o600)
      const entered = await run(own, words)
      expect([entered.code, entered.stdout]).toEqual([1, ''])
      expect(entered.stderr).toContain(deniedText('enter the folder', own.empty))
    })
  },
)
