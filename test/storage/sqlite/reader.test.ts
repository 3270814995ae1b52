// engines: sqlite (what only SQLite has)

import { expect, it } from 'vitest'
import { MemtableRing } from '../../../server/storage/sqlite/index/memtable.ts'
import { Reader } from '../../../server/storage/sqlite/reader/reader.ts'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import { newStore } from '../../fixtures/cairn.ts'

it('a reader that refuses new work finishes its queue, and does the look-ups of work that its store still has to finish', async () => {
  const path = sqlitePath(await newStore())
  const reader = await Reader.open({ path, ring: new MemtableRing(), onDeath: () => expect.unreachable() })
  const statement = { sql: 'SELECT 1 AS one', parameters: [] }
  const before = Array.from({ length: 5 }, () => reader.lookUp(statement))
  reader.refuseNew()
  const during = reader.lookUpWhileClosing(statement)
  await expect(reader.lookUp(statement)).rejects.toMatchObject({ reason: 'shutting_down' })
  expect(await Promise.all([...before, during])).toEqual(Array(6).fill([{ one: 1 }]))
  await reader.close()
})
