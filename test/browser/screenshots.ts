import { processEnvironment } from '../../server/config.ts'

/**
 * Whether screenshots of what is inspected are kept in dist/screenshots, for someone to look at. They take a third of the
 * time of an inspection.
 */
export const keepsScreenshots = processEnvironment().CAIRN_TEST_SCREENSHOTS === '1'
