import { beforeAll } from 'vitest'
import { closeStores } from '../in-store.ts'
import { dropDatabases } from './databases.ts'

// The returned function runs last, after the file's servers have stopped.
beforeAll(() => async () => {
  await closeStores()
  await dropDatabases()
})
