import { processEnvironment } from '../server/config.ts'

/** The engine of the stores that tests create; vitest.config.ts runs one suite on each. */
export const engine = processEnvironment().CAIRN_TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite'
