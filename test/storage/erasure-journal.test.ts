// engines: none (the journal is a file beside any store)

import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ErasureJournal } from '../../server/storage/removals/erasure-journal.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { startCommand } from '../fixtures/command.ts'

const module = fileURLToPath(new URL('../../server/storage/removals/erasure-journal.ts', import.meta.url))

function newErasure() {
  return { workspace_id: randomUUID(), customer_id: randomUUID(), own_digest: null, erased_ms: 1 }
}

function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').filter(Boolean)
}

it('does not take a line for recorded that was written in part, and writes it anew on its own line', async () => {
  const path = join(temporaryFolder(), 'erased')
  // A file cannot grow beyond 1 KiB, as on a full disk; half of a line fits.
  writeFileSync(path, '\n'.repeat(1024 - 80))
  const erasure = newErasure()
  const script = `import { ErasureJournal } from '${module}'
    await new ErasureJournal('${path}').note([${JSON.stringify(erasure)}])`
  const node = [process.execPath, '--input-type=module', '--eval', script]
  const full = await startCommand('bash', ['-c', 'ulimit -f 1; exec "$@"', 'bash', ...node]).ended
  expect(full).toMatchObject({ code: 1, stderr: expect.stringMatching(/only 80 of \d+ bytes were written/) })
  const [torn = ''] = linesOf(path)

  await new ErasureJournal(path).note([erasure])
  expect(linesOf(path)).toEqual([torn, JSON.stringify(erasure)])
  await new ErasureJournal(path).note([erasure])
  expect(linesOf(path)).toHaveLength(2)
})

it('writes erasures that are recorded at the same time once each', async () => {
  const path = join(temporaryFolder(), 'erased')
  const journal = new ErasureJournal(path)
  const erasures = Array.from({ length: 20 }, newErasure)
  await Promise.all([...erasures, ...erasures].map((erasure) => journal.note([erasure])))
  expect(linesOf(path)).toEqual(erasures.map((erasure) => JSON.stringify(erasure)))
})

it('writes all erasures to a file that takes the place of its own, each once', async () => {
  const path = join(temporaryFolder(), 'erased')
  const journal = new ErasureJournal(path)
  const [first, second, third] = [newErasure(), newErasure(), newErasure()]
  await journal.note([first])
  renameSync(path, `${path}.moved`)
  await journal.note([second])
  const inOrder = (erasures: object[]) => erasures.map((erasure) => JSON.stringify(erasure)).toSorted()
  expect(linesOf(path).toSorted()).toEqual(inOrder([first, second]))
  renameSync(`${path}.moved`, path)
  await journal.note([third])
  expect(linesOf(path).toSorted()).toEqual(inOrder([first, second, third]))
})
