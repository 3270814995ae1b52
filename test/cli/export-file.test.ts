// engines: none (writes files only)

import { readFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type End, ExportFile } from '../../server/cli/export/export-file.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'

const what = { list: 'events', filter: {} }

function end(lines: number): End {
  return { end: lines, ...what, next_cursor: 'last', caught_up_to: null }
}

function add(file: ExportFile, text: string) {
  file.add(Buffer.from(`${text}\n`))
  file.keep('here')
}

describe('a file of an export', () => {
  it('starts from its beginning if the part was removed, whatever was written since', async () => {
    const path = join(temporaryFolder(), 'events.ndjson')
    const first = new ExportFile(path, what)
    for (let n = 1; n <= 5; n += 1) add(first, `{"n":${n}}`)
    first.note()
    rmSync(`${path}.part`)
    // Killed before its first position was saved.
    const second = new ExportFile(path, what)
    expect(second.reached.lines).toBe(0)
    add(second, '{"n":1}')
    const third = new ExportFile(path, what)
    expect(third.reached.lines).toBe(0)
    add(third, '{"n":1}')
    third.finish(end(1))
    expect(readFileSync(path, 'utf8')).toBe(`{"n":1}\n${JSON.stringify(end(1))}\n`)
  })

  it('starts from its beginning if the part is shorter than its position', () => {
    const path = join(temporaryFolder(), 'events.ndjson')
    const first = new ExportFile(path, what)
    for (let n = 1; n <= 5; n += 1) add(first, `{"n":${n}}`)
    first.note()
    expect(new ExportFile(path, what).reached.lines).toBe(5)
    truncateSync(`${path}.part`, 8)
    expect(new ExportFile(path, what).reached.lines).toBe(0)
  })
})
