// engines: sqlite (what is checked before a store or a server is asked)

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_DATABASE_URL } from '../../server/config.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'

/** Runs a command that has nobody to talk to. */
async function run(folder: string, args: string[]) {
  return await runCairn(args, {
    environment: {
      DATABASE_URL: `sqlite:${join(folder, 'cairn.db')}`,
      CAIRN_SERVICE_KEY: 'sk_any',
      PORT: '1',
    },
  })
}

/** A folder that contains a file. */
function newFolder() {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  return folder
}

describe('a file to be read', () => {
  it.each([
    'import',
    'restore',
    'plan diff',
    'plan push',
    'export events NEW --since',
    'export events NEW --key-file',
    'plan pull NEW --key-file',
  ])('is named if it does not exist or is a folder: cairn %s', async (words) => {
    const folder = newFolder()
    const args = words.split(' ').map((word) => (word === 'NEW' ? join(folder, 'new') : word))
    const missing = join(folder, 'missing')
    const before = readdirSync(folder)
    expect(await run(folder, [...args, missing])).toEqual({
      code: 3,
      stdout: '',
      stderr: `cairn: the file ${missing} does not exist\n`,
    })
    expect(await run(folder, [...args, folder])).toEqual({
      code: 2,
      stdout: '',
      stderr: `cairn: ${folder} is a folder\n`,
    })
    expect(readdirSync(folder)).toEqual(before)
  })
})

describe('an empty argument', () => {
  it.each([
    'backup EMPTY',
    'backup --keep 7 EMPTY',
    'restore EMPTY',
    'copy --from EMPTY --to sqlite:copy.db',
    'copy --from= --to sqlite:copy.db',
    'import EMPTY',
    'export events EMPTY',
    'plan pull EMPTY',
    'plan pull NEW --key-file EMPTY',
  ])('is refused with exit code 2, and nothing is done: cairn %s', async (words) => {
    const folder = newFolder()
    const args = words.split(' ').map((word) => ({ EMPTY: '', NEW: join(folder, 'new') })[word] ?? word)
    const before = readdirSync(folder)
    expect(await run(folder, args)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'cairn: an argument is empty, perhaps a variable that is not set\n',
    })
    expect(readdirSync(folder)).toEqual(before)
  })
})

describe('a file to be written', () => {
  it.each(['export events', 'plan pull'])('is named if it cannot be there: cairn %s', async (words) => {
    const args = words.split(' ')
    const folder = newFolder()
    const [missing, file] = [join(folder, 'missing'), join(folder, 'file')]
    for (const [path, code, message] of [
      [join(missing, 'new'), 3, `the folder ${missing} does not exist`],
      [join(file, 'new'), 3, `${file} is not a folder`],
      [folder, 2, `${folder} is a folder`],
    ] as const) {
      expect(await run(folder, [...args, path])).toEqual({ code, stdout: '', stderr: `cairn: ${message}\n` })
    }
  })

  it('is named if refused lines cannot be there', async () => {
    const folder = newFolder()
    const args = ['import', join(folder, 'file'), '--dry-run', '--refused', folder]
    expect(await run(folder, args)).toEqual({ code: 2, stdout: '', stderr: `cairn: ${folder} is a folder\n` })
  })

  it.runIf(existsSync('/proc/self'))(
    'is named if its folder takes no file, before a line is read',
    async () => {
      const folder = newFolder()
      const path = '/proc/refused'
      const stderr = `cairn: no refused lines could be written to ${path}; choose another with --refused\n`
      writeFileSync(join(folder, 'file'), '{')
      const args = ['import', join(folder, 'file'), '--dry-run', '--refused', path]
      expect(await run(folder, args)).toEqual({ code: 2, stdout: '', stderr })
    },
  )

  it('is named if the folder of a workspace is a file', async () => {
    const folder = newFolder()
    const file = join(folder, 'file')
    const stderr = `cairn: ${file} is not a folder\n`
    expect(await run(folder, ['export', 'workspace', file])).toEqual({ code: 3, stdout: '', stderr })
  })
})

// A file system that answers ENOENT in a folder that exists, for which mkdir's own recursion never ends.
describe.runIf(existsSync('/proc/self'))('a folder that cannot be created', () => {
  it('is named if a workspace is exported to it', async () => {
    const environment = { CAIRN_SERVICE_KEY: 'sk_any', PORT: '1' }
    for (const folder of ['/proc/cairn', '/proc/cairn/new']) {
      const stderr = expect.stringMatching(/^cairn: Cannot create the folder \/proc\/cairn: ENOENT.+\n$/)
      const { ended } = spawnCairn(['export', 'workspace', folder], { environment })
      expect(await ended).toMatchObject({ code: 1, stdout: '', stderr })
    }
  })

  it('is named if it is that of the store', async () => {
    const stderr = expect.stringMatching(/^cairn: Cannot open .+: Cannot create the folder .+: ENOENT.+\n$/)
    const environment = { DATABASE_URL: DEFAULT_DATABASE_URL }
    const { ended } = spawnCairn(['migrate'], { environment, folder: '/proc' })
    expect(await ended).toMatchObject({ code: 1, stdout: '', stderr })
  })
})
