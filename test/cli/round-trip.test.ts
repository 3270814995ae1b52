// engines: sqlite, postgres

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { startCairnForTest, temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { initialize } from '../fixtures/customer.ts'
import { expectMoved } from '../fixtures/moved-workspace.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'
import { importerOf, startFaultyProxy } from './importer.ts'

/** Two workspaces of a server, a folder for an export, and `run` for commands with the key of a workspace. */
async function twoWorkspaces() {
  const cairn = await startCairnForTest()
  const [source, target] = [await cairn.workspace(), await cairn.workspace()]
  const folder = join(temporaryFolder(), 'workspace')
  const run = ({ secret_key }: Workspace, args: string[], url = cairn.url) =>
    runCairn([...args, '--base-url', `${url}/v1`], { environment: { CAIRN_SERVICE_KEY: secret_key } })
  return { cairn, source, target, folder, run }
}

async function journeysOf({ client }: Workspace): Promise<number | undefined> {
  return (await client.listJourneys()).data?.data.length
}

it('a workspace that is exported and imported into another is the same, with a table of new identifiers', async () => {
  const cairn = await startCairnForTest()
  await expectMoved(cairn, cairn, 2)
})

it('an import with the key of the exported workspace, or of another one than before, creates nothing', async () => {
  const { cairn, source, target, folder, run } = await twoWorkspaces()
  const third = await cairn.workspace()
  expect(await run(source, ['export', 'workspace', folder])).toMatchObject({ code: 0 })

  expect(await run(source, ['import', folder])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('The key belongs to the exported workspace.'),
  })
  expect(await journeysOf(source)).toBe(1)
  expect(await run(target, ['import', folder])).toMatchObject({ code: 0 })
  expect(await run(third, ['import', folder])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(
      `${folder}.identifiers.ndjson is the table of an import into another workspace.`,
    ),
  })
  expect(await journeysOf(third)).toBe(1)
})

it('an import of a folder with a line that is refused says that it is not finished, and is once that is corrected', async () => {
  const { source, target, folder, run } = await twoWorkspaces()
  const { client, journey_id } = source
  const customer_id = await initialize(source, 'user-1')
  await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
  await client.defineEvent({ body: { event_id: 'signed_up' } })
  expect(await run(source, ['export', 'workspace', folder])).toMatchObject({ code: 0 })
  const path = join(folder, 'events.ndjson')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace('"signed_up"', '""'))
  expect(await run(target, ['import', folder])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`The import is not finished`),
  })
  const defined = async () => (await target.client.listEventDefinitions()).data?.data.length
  expect(await defined()).toBe(0)
  writeFileSync(path, text)
  const { code, stderr } = await run(target, ['import', folder])
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('not finished')])
  expect(await defined()).toBe(1)
})

it('an import of a folder with a line that is no JSON, or without a file, says where', async () => {
  const { source, target, folder, run } = await twoWorkspaces()
  await initialize(source, 'user-1')
  expect(await run(source, ['export', 'workspace', folder])).toMatchObject({ code: 0 })
  const path = (name: string) => join(folder, `${name}.ndjson`)
  for (const name of ['events', 'enrolments']) {
    const text = readFileSync(path(name), 'utf8')
    rmSync(path(name))
    const missing = await run(target, ['import', folder])
    expect(missing).toMatchObject({ code: 3, stderr: `cairn: the file ${path(name)} does not exist\n` })
    writeFileSync(path(name), text)
  }
  expect(await journeysOf(target)).toBe(1)
  for (const line of ['{"client_customer_id"', '4711']) {
    const text = readFileSync(path('enrolments'), 'utf8')
    writeFileSync(path('enrolments'), `${line}\n${text}`)
    const stderr = `cairn: line 1 of ${path('enrolments')} is not a JSON object\n`
    expect(await run(target, ['import', folder])).toMatchObject({ code: 1, stderr })
    writeFileSync(path('enrolments'), text)
  }
  expect(await run(target, ['import', folder])).toMatchObject({ code: 0 })
})

it('an export has nothing of customers erased and journeys removed while it ran, and an import skips their events', async () => {
  const { cairn, source, target, folder, run } = await twoWorkspaces()
  const { client, journey_id } = source
  const { data: removed } = await client.createJourney({ body: { name: 'Renewal' } })
  const other = { client, journey_id: removed?.journey_id ?? '' }
  const [erased, kept] = [await initialize(source, 'erased'), await initialize(source, 'kept')]
  await initialize(other, 'kept')
  for (const event of [
    { journey_id, customer_id: erased, event_id: 'signed_up', custom_variables: 'Grace Hopper' },
    { journey_id, customer_id: kept, event_id: 'signed_up' },
    { journey_id: other.journey_id, customer_id: kept, event_id: 'renewed' },
  ]) {
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
  }
  const exporting = (...args: string[]) => run(source, ['export', ...args])
  // An export that is interrupted after the lists, and resumed.
  const lists = ['events', 'customers'].map((list) => join(folder, `${list}.ndjson`))
  mkdirSync(folder)
  for (const path of lists)
    expect(await exporting(basename(path, '.ndjson'), path)).toMatchObject({ code: 0 })
  const before = lists.map((path) => readFileSync(path, 'utf8'))
  const owner = (await signUp(cairn, source, 'owner')).client()
  await owner.eraseCustomer({ path: { customer_id: erased } })
  const { journey_id: renewal } = other
  await owner.archiveJourney({ path: { journey_id: renewal } })
  await owner.removeJourney({ path: { journey_id: renewal }, body: { name: 'Renewal' } })

  expect(await exporting('workspace', folder)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Removed from the export: 2 events and 1 customer\. /m),
  })
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  for (const gone of [erased, renewal, 'Grace Hopper']) expect(texts.join('')).not.toContain(gone)
  for (const path of lists) {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ end: lines.length - 1 })
  }

  // As an earlier version left them.
  for (const [index, path] of lists.entries()) writeFileSync(path, before[index] ?? '')
  const { stderr, ...made } = await importerOf(`${cairn.url}/v1`, target.secret_key).import(folder)
  expect(made).toMatchObject({ code: 0, summary: { created: 1, refused: 0, skipped: 2 } })
  expect(stderr).toBe(
    '2 events were skipped: their customer was erased, or their journey removed, during the export.\n',
  )
  expect((await target.client.listEvents()).data?.data).toMatchObject([{ event_id: 'signed_up' }])
})

it('an import of a workspace ends on SIGINT, also while the server does not respond', async () => {
  const { cairn, source, target, folder, run } = await twoWorkspaces()
  await run(source, ['export', 'workspace', folder])
  let requests = 0
  const url = await startFaultyProxy(cairn.url, (count) => {
    requests = count
    return 'unanswered'
  })
  const command = importerOf(`${url}/v1`, target.secret_key).start(folder)
  await vi.waitUntil(() => requests > 0, withPatience)
  command.process.kill('SIGINT')
  expect(await command.ended).toMatchObject({
    code: 130,
    stderr: expect.stringContaining('interrupted. Run'),
  })
})

it('an import that loses the response to a new journey names it, because it is not created twice by itself', async () => {
  const { cairn, source, target, folder, run } = await twoWorkspaces()
  expect(await run(source, ['export', 'workspace', folder])).toMatchObject({ code: 0 })
  const url = await startFaultyProxy(cairn.url, (_, { method }) => (method === 'POST' ? 'lost' : undefined))
  expect(await run(target, ['import', folder], url)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^cairn: cannot reach http:.+: .+; the journey Onboarding may have been created\. Look whether it exists/,
    ),
  })
  expect((await target.client.listJourneys()).data?.data).toHaveLength(2)
})
