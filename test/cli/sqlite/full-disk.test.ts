// engines: sqlite (its files)

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createWorkspace } from '../../../server/cli/init.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { runCairn } from '../../fixtures/command.ts'
import { copy } from '../../fixtures/copied-store.ts'
import { connect } from '../../fixtures/file-store.ts'
import { machine } from '../../fixtures/machine.ts'
import { smallDisk } from '../../fixtures/small-disk.ts'

const canMount = machine.canMount()

const MIB = 1024 * 1024

/** A store of 16 MB, and a disk with half as much space. */
async function storeAndDisk() {
  const path = join(temporaryFolder(), 'cairn.db')
  const DATABASE_URL = `sqlite:${path}`
  await createWorkspace(DATABASE_URL, { workspace: 'Example Ltd', journey: 'Onboarding' })
  connect(path).exec('UPDATE journeys SET description = hex(zeroblob(8000000))')
  return { DATABASE_URL, disk: smallDisk(8 * MIB) }
}

/** What an operator is told. */
function tooSmall(disk: string) {
  return expect.stringMatching(
    `the disk of ${disk} is full: the copy needs about \\d{8} bytes, and \\d{7} are free\\. Make room, or use another disk\\.\n$`,
  )
}

it.runIf(canMount)('a backup says how much space is missing on which disk', async () => {
  const { DATABASE_URL, disk } = await storeAndDisk()
  const full = await runCairn(['backup', join(disk, 'backup.db')], { environment: { DATABASE_URL } })
  expect(full).toMatchObject({ code: 1, stdout: '', stderr: tooSmall(disk) })
  expect(readdirSync(disk)).toEqual([])
})

it.runIf(canMount)('a restore says how much space is missing on which disk', async () => {
  const { DATABASE_URL, disk } = await storeAndDisk()
  const backup = join(temporaryFolder(), 'backup.db')
  expect(await runCairn(['backup', backup], { environment: { DATABASE_URL } })).toMatchObject({ code: 0 })
  const there = { environment: { DATABASE_URL: `sqlite:${join(disk, 'cairn.db')}` } }
  expect(await runCairn(['restore', backup], there)).toMatchObject({ code: 1, stderr: tooSmall(disk) })
})

it.runIf(canMount)(
  'a copy says that the disk of its target is full, and resumes when it has room',
  async () => {
    const { DATABASE_URL, disk } = await storeAndDisk()
    const to = `sqlite:${join(disk, 'cairn.db')}`
    const advice = 'the disk of --to is full. Make room, and run the same command again to resume\n'
    expect(await copy(DATABASE_URL, to)).toMatchObject({ code: 1, stderr: `cairn: ${advice}` })
    execFileSync('mount', ['-o', `remount,size=${128 * MIB}`, disk])
    expect(await copy(DATABASE_URL, to)).toMatchObject({ code: 0, stderr: '' })
  },
)
