import { beforeAll } from 'vitest'
import { closeStores } from '../fixtures/in-store.ts'
import { dropDatabases } from '../fixtures/postgres/databases.ts'

// The returned function runs last, after the file's servers have stopped.
beforeAll(() => async () => {
  await closeStores()
  await dropDatabases()
})
