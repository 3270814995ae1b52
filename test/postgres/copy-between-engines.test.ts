// engines: postgres (what only PostgreSQL has)

import { join } from 'node:path'
import { describe, it } from 'vitest'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { expectSameCopy, filled } from '../fixtures/copied-store.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

const newFile = () => `sqlite:${join(temporaryFolder(), 'cairn.db')}`

describe('cairn copy', () => {
  it('takes a store from a file to PostgreSQL', async () => {
    await expectSameCopy(await filled({ databaseUrl: newFile() }), await newDatabase())
  })

  it('takes a store from PostgreSQL to a file', async () => {
    await expectSameCopy(await filled({ databaseUrl: await newDatabase() }), newFile())
  })
})
