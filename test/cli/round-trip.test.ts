// engines: sqlite, postgres

import { it } from 'vitest'
import { startCairnForTest } from '../cairn.ts'
import { expectMoved } from './moved-workspace.ts'

it('a workspace that is exported and imported into another is the same, with a table of new identifiers', async () => {
  const cairn = await startCairnForTest()
  await expectMoved(cairn, cairn, 2)
})
