// engines: none (it looks at files alone)

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../fixtures/cairn.ts'

// JavaScript, which has no types: it is read by every Node.
const { isBuilt }: { isBuilt(file: string, sources: readonly string[]): boolean } = await import(
  new URL('../../server/cli/built.js', import.meta.url).href
)

it('a build is used until one of its sources changes, and whatever else is built next to them', () => {
  const folder = temporaryFolder()
  const [sources, built] = [join(folder, 'client'), join(folder, 'commands.js')]
  mkdirSync(sources)
  for (const path of [join(sources, 'index.ts'), built]) writeFileSync(path, '')
  const past = new Date(Date.now() - 60_000)
  for (const path of [join(sources, 'index.ts'), sources]) utimesSync(path, past, past)
  expect(isBuilt(built, [sources])).toBe(true)
  utimesSync(built, past, past)
  mkdirSync(join(sources, 'dist'))
  writeFileSync(join(sources, 'dist', 'index.js'), '')
  expect(isBuilt(built, [sources])).toBe(true)
  writeFileSync(join(sources, 'other.ts'), '')
  expect(isBuilt(built, [sources])).toBe(false)
  expect(isBuilt(join(folder, 'none.js'), [sources])).toBe(false)
})
