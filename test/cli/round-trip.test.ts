// engines: sqlite, postgres

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCairnForTest, temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { expectMoved } from '../fixtures/moved-workspace.ts'

it('a workspace that is exported and imported into another is the same, with a table of new identifiers', async () => {
  const cairn = await startCairnForTest()
  await expectMoved(cairn, cairn, 2)
})

it('an import with the key of the exported workspace, or of another one than before, creates nothing', async () => {
  const cairn = await startCairnForTest()
  const [source, target, third] = [await cairn.workspace(), await cairn.workspace(), await cairn.workspace()]
  const folder = join(temporaryFolder(), 'workspace')
  const run = (workspace: Workspace, ...args: string[]) =>
    runCairn([...args, '--base-url', `${cairn.url}/v1`], {
      environment: { CAIRN_SERVICE_KEY: workspace.secret_key },
    })
  const journeysOf = async ({ client }: Workspace) => (await client.listJourneys()).data?.data.length
  expect(await run(source, 'export', 'workspace', folder)).toMatchObject({ code: 0 })

  expect(await run(source, 'import', folder)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('The key belongs to the exported workspace.'),
  })
  expect(await journeysOf(source)).toBe(1)
  expect(await run(target, 'import', folder)).toMatchObject({ code: 0 })
  expect(await run(third, 'import', folder)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(
      `${folder}.identifiers.ndjson is the table of an import into another workspace.`,
    ),
  })
  expect(await journeysOf(third)).toBe(1)
})
