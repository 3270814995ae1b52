import { beforeAll } from 'vitest'
import { dropDatabases } from './databases.ts'

// What is returned here is done last, when the file's servers have been stopped.
beforeAll(() => dropDatabases)
