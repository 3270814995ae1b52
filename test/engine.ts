import { processEnvironment } from '../server/config.ts'

/** What keeps the data of the stores that tests make: vitest.config.ts runs one suite on each. */
export const engine = processEnvironment().CAIRN_TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite'
