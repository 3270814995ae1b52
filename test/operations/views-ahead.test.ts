// engines: sqlite, postgres

import { describe, expect, onTestFinished } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { openStorage } from '../../server/storage/open.ts'
import type { Standings } from '../../server/storage/standings/standings.ts'
import {
  type Cairn,
  type CairnOptions,
  startCairn,
  startCairnForTest,
  type Workspace,
} from '../fixtures/cairn.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { does, it, report, withSteps } from './stepped-journey.ts'

type ViewQuery = components['schemas']['ViewQuery']

/** A server with a store of its own, which a second one can serve after it. */
async function firstServer(options: Pick<CairnOptions, 'now'> = {}): Promise<Cairn> {
  const cairn = await startCairn(options)
  onTestFinished(cairn.stop)
  return cairn
}

async function save({ client, journey_id }: Workspace, query: ViewQuery) {
  const body = { name: 'Plans', journey_id, query, visibility: 'workspace' as const }
  const { data } = await client.createView({ body })
  return data?.view_id
}

const readAhead = async (cairn: Cairn) => sumOf(await scrape(cairn), 'cairn_view_enrolments_read_total')

/** Opens a store whose standings are read ahead by something else. */
function openedWith(readAhead: Standings['readAhead']): typeof openStorage {
  return async (options) => {
    const storage = await openStorage(options)
    return { ...storage, standings: { ...storage.standings, readAhead } }
  }
}

/** A clock by which no two changes have the same time. */
function everLater() {
  let now_ms = Date.now()
  return () => ++now_ms
}

describe('saved views', () => {
  it('are read ahead after a start, each variable once, and have the same numbers as before', async () => {
    const first = await firstServer()
    const workspace = await withSteps(await first.workspace())
    for (const [index, plan] of ['team', 'solo', 'team'].entries()) {
      await does(workspace, `user-${index}`, [['signed_up', 1, { plan, seats: index }]])
    }
    const query = { breakdown: 'variable:plan', entered_from: '2026-01-01T00:00:00Z' } as const
    const before = await report(workspace, { breakdown: 'variable:plan' })
    await save(workspace, query)
    await save(workspace, { ...query, customer_type: 'account' })
    await save(workspace, { variables: ['seats:1'], entered_from: '2026-01-01T00:00:00Z' })
    await save(workspace, { breakdown: 'customer_type' })
    await first.stop()

    const second = await startCairnForTest({ databaseUrl: first.databaseUrl })
    await expect.poll(() => readAhead(second)).toBe(6)
    const after = await report(
      { ...workspace, client: second.client(workspace.secret_key) },
      {
        breakdown: 'variable:plan',
      },
    )
    expect({ ...after, as_of: null }).toEqual({ ...before, as_of: null })
  })

  it('that cannot be read ahead are named in the log, and do not hold up others', async () => {
    const first = await firstServer({ now: everLater() })
    const [one, other] = [await first.workspace(), await first.workspace()]
    await save(one, { breakdown: 'variable:plan' })
    const view_id = await save(other, { breakdown: 'variable:plan' })
    await first.stop()

    const asked: string[] = []
    const open = openedWith(async (workspaceId) => {
      asked.push(workspaceId)
      if (workspaceId === other.workspace_id) throw new Error('the disk is gone')
      return { next: null, unread: 5, share: 0.1 }
    })
    const second = await startCairnForTest({ databaseUrl: first.databaseUrl, open })
    await expect.poll(() => readAhead(second)).toBe(5)
    expect(asked).toEqual([other.workspace_id, one.workspace_id])
    const warnings = () => second.log.filter(({ level }) => level === 40)
    await expect.poll(warnings).toMatchObject([{ view_id, err: { message: 'the disk is gone' } }])
  })

  it('share the memory: each is told what is left, and the same variables count once', async () => {
    const first = await firstServer({ now: everLater() })
    const workspace = await first.workspace()
    for (const name of ['one', 'two', 'two', 'three'])
      await save(workspace, { breakdown: `variable:${name}` })
    await first.stop()

    const asked: [unknown, string | null, number][] = []
    const open = openedWith(async (_workspace, _journey, { filter, after, room }) => {
      asked.push([filter.breakdown, after, Math.round(10 * room)])
      return { next: asked.length === 1 ? 'a' : null, unread: 1, share: asked.length === 2 ? 0.5 : 0.2 }
    })
    const second = await startCairnForTest({ databaseUrl: first.databaseUrl, open })
    await expect.poll(() => readAhead(second)).toBe(5)
    await second.stop()
    const by = (name: string) => ({ by: 'variable', name })
    // The last changed first.
    expect(asked).toEqual([
      [by('three'), null, 9],
      [by('three'), 'a', 9],
      [by('two'), null, 4],
      [by('two'), null, 4],
      [by('one'), null, 2],
    ])
  })

  it('are the twelve that were changed last, at most four of a workspace', async () => {
    const first = await firstServer({ now: everLater() })
    const workspaces = [await first.workspace(), await first.workspace(), await first.workspace()]
    await save(await first.workspace(), { breakdown: 'variable:plan' })
    for (const workspace of workspaces)
      for (let count = 0; count < 5; count += 1) await save(workspace, { breakdown: `variable:${count}` })
    await first.stop()

    const asked: [string, unknown][] = []
    const open = openedWith(async (workspaceId, _journey, { filter }) => {
      asked.push([workspaceId, filter.breakdown])
      return { next: null, unread: 1, share: 0.1 }
    })
    const second = await startCairnForTest({ databaseUrl: first.databaseUrl, open })
    await expect.poll(() => readAhead(second)).toBe(12)
    await second.stop()
    const latest = workspaces
      .toReversed()
      .map(({ workspace_id }) => ['4', '3', '2', '1'].map((name) => [workspace_id, { by: 'variable', name }]))
    expect(asked).toEqual(latest.flat())
  })
})
