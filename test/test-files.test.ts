// engines: none (reads the tree)

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './fixtures/cairn.ts'
import { testFiles } from './setup/test-files.ts'

/** The declaration of a file that begins with these lines. */
function declaredBy(...lines: string[]) {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'inner'))
  writeFileSync(join(folder, 'inner', 'some.test.ts'), [...lines, '', "import 'vitest'"].join('\n'))
  const [file] = testFiles(folder)
  if (file === undefined) throw new Error('The file was not found.')
  return file
}

it('every test file declares on its first line which engines it runs on', () => {
  const files = testFiles('test')
  expect(files.length).toBeGreaterThan(100)
  expect(files.flatMap(({ fault = [] }) => fault)).toEqual([])
})

describe('the declaration of a test file', () => {
  it.each([
    ['// engines: sqlite, postgres', ['sqlite', 'postgres']],
    ['// engines: sqlite (says why)', ['sqlite']],
    ['// engines: postgres (what sqlite does not have)', ['postgres']],
    ['// engines: none (opens no store)', []],
  ])('is taken from %j', (line, engines) => {
    expect(declaredBy(line)).toMatchObject({ engines, alone: false })
    expect(declaredBy(line)).not.toHaveProperty('fault')
    expect(declaredBy(line, '// alone: measures memory')).toMatchObject({ engines, alone: true })
  })

  it.each([
    ['is missing', "import { it } from 'vitest'"],
    ['is empty', ''],
    ['gives no reason for one engine', '// engines: sqlite'],
    ['gives no reason for none', '// engines: none'],
    ['gives an empty reason', '// engines: sqlite ()'],
    ['names an unknown engine', '// engines: sqlite, mysql'],
    ['names the engines in another order', '// engines: postgres, sqlite'],
    ['says more after it', '// engines: sqlite, postgres, and so on'],
  ])('is refused where it %s, by the name of the file', (_how, line) => {
    const { fault } = declaredBy(line)
    expect(fault).toMatch(/inner\/some\.test\.ts: the first line must be one of\n\/\/ engines: /)
    expect(fault).toContain(`but is\n${line}`)
  })

  it('is refused below the first line', () => {
    expect(declaredBy('', '// engines: sqlite, postgres')).toHaveProperty('fault')
  })
})
