import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, inject } from 'vitest'
import { closeStores } from '../fixtures/in-store.ts'
import { dropDatabases } from '../fixtures/postgres/databases.ts'

// The returned function runs last, after the file's servers have stopped.
beforeAll(() => async () => {
  await closeStores()
  await dropDatabases()
})

// recorded-statements.test.ts, in another project, reads what all servers have recorded.
const { folder } = inject('postgres')
if (folder !== undefined) writeFileSync(join(inject('run').folder, `recorded-${basename(folder)}`), folder)
