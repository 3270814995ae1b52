// engines: postgres (what only PostgreSQL has)

import { join } from 'node:path'
import { describe, it } from 'vitest'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { expectNothingToldAgain, expectSameCopy, filled } from '../fixtures/copied-store.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

const newFile = () => `sqlite:${join(temporaryFolder(), 'cairn.db')}`

describe('cairn copy', () => {
  it('takes a store from a file to PostgreSQL', async () => {
    await expectSameCopy(await filled({ databaseUrl: newFile() }), await newDatabase())
  })

  it('takes a store from PostgreSQL to a file', async () => {
    await expectSameCopy(await filled({ databaseUrl: await newDatabase() }), newFile())
  })

  it('tells no webhook again what it was told before, and all that it was not', async () => {
    await expectNothingToldAgain(newFile(), await newDatabase())
    await expectNothingToldAgain(await newDatabase(), newFile())
  })
})
