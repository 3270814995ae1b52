// engines: postgres (what only PostgreSQL has)

import { join } from 'node:path'
import { it } from 'vitest'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { expectMoved } from '../fixtures/moved-workspace.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

it('a workspace that is exported from SQLite and imported into one on PostgreSQL is the same', async () => {
  const from = await startCairnForTest({ databaseUrl: `sqlite:${join(temporaryFolder(), 'cairn.db')}` })
  const to = await startCairnForTest({ databaseUrl: await newDatabase() })
  await expectMoved(from, to, 1)
})
