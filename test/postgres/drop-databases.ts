import { beforeAll } from 'vitest'
import { closeStores } from '../in-store.ts'
import { dropDatabases } from './databases.ts'

// What is returned here is done last, when the file's servers have been stopped.
beforeAll(() => async () => {
  await closeStores()
  await dropDatabases()
})
