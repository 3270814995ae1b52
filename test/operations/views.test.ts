// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { insertView } from '../../server/storage/tables/views.ts'
import type { Workspace } from '../fixtures/cairn.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'
import { addMember, type SignedUp, signUp } from '../fixtures/people.ts'
import { rowsOfWorkspace } from '../fixtures/rows-of-workspace.ts'
import { codeOf } from './code-of.ts'

type Schemas = components['schemas']
type Client = Pick<
  Workspace['client'],
  'createView' | 'listViews' | 'getView' | 'updateView' | 'removeView' | 'listJourneys'
>

/** Saves a view; returns it, or the code of the problem. */
async function save(
  client: Client,
  { journey_id }: Pick<Workspace, 'journey_id'>,
  view: Partial<Schemas['ViewCreation']> = {},
) {
  const body = { name: 'Teams', journey_id, query: {}, visibility: 'workspace' as const, ...view }
  const { data, error } = await client.createView({ body })
  return { ...data, view_id: data?.view_id ?? '', code: error?.code }
}

const names = async (client: Client, query: { journey_id?: string } = {}) =>
  (await client.listViews({ query })).data?.data.map(({ name }) => name)

describe('a view', () => {
  const query = {
    chart: 'trend',
    entered_from: '2026-11-01T00:00:00+01:00',
    customer_type: 'account',
    window: 'P7D',
    by: 'week',
    measure: 'of_previous',
    step: 2,
    time_zone: 'Europe/Berlin',
    first_step: 2,
    last_step: 4,
    step_order: 'strict',
    breakdown: 'variable:plan',
    touch: 'last',
    variables: ['seats:5', 'region:eu: west'],
    compare: 'custom',
    compare_from: '2026-10-01T00:00:00Z',
    compare_to: '2026-11-01T00:00:00Z',
  } satisfies Schemas['ViewQuery']

  it('is returned as it was saved, until it is changed or removed', async ({ workspace, client }) => {
    const { code: _, ...saved } = await save(client, workspace, { query })
    const path = { view_id: saved.view_id }
    expect(saved).toMatchObject({ name: 'Teams', query, visibility: 'workspace' })
    expect((await client.getView({ path })).data).toEqual(saved)
    expect((await client.listViews()).data).toEqual({ data: [saved] })

    const { data } = await client.updateView({ path, body: { name: 'Accounts' } })
    expect(data).toMatchObject({ ...saved, name: 'Accounts', updated_at: expect.any(String) })
    // A query is replaced as a whole.
    const replaced = await client.updateView({ path, body: { query: { last_days: 7 } } })
    expect(replaced.data).toMatchObject({ name: 'Accounts', query: { last_days: 7 } })
    expect(replaced.data?.query).toEqual({ last_days: 7 })

    expect((await client.removeView({ path })).response.status).toBe(204)
    expect(await codeOf(client.getView({ path }))).toBe('view_not_found')
    expect(await codeOf(client.removeView({ path }))).toBe('view_not_found')
  })

  it('is listed oldest first, and for one journey alone', async ({ workspace, client }) => {
    const { data: other } = await client.createJourney({ body: { name: 'Renewal' } })
    await save(client, workspace, { name: 'First' })
    await save(client, workspace, { name: 'Second', journey_id: other?.journey_id ?? '' })
    await save(client, workspace, { name: 'Third' })
    expect(await names(client)).toEqual(['First', 'Second', 'Third'])
    expect(await names(client, { journey_id: workspace.journey_id })).toEqual(['First', 'Third'])
    expect(await names(client, { journey_id: 'jrn_unknown' })).toEqual([])
  })

  it.for([
    ['a time zone that does not exist', { time_zone: 'Atlantis/Main_Square' }, 'time_zone_unknown'],
    ['a field that does not exist', { last_days: 7, broken_down_by: 'plan' }, 'invalid_request'],
    ['no days', { last_days: 0 }, 'invalid_request'],
    ['a window of a month', { window: 'P1M' }, 'invalid_request'],
    ['a breakdown by something else', { breakdown: 'customer_name' }, 'invalid_request'],
    ['a touch that is no step', { touch: '0' }, 'invalid_request'],
    ['a filter without a value', { variables: ['plan'] }, 'invalid_request'],
    ['six filters', { variables: ['a:1', 'b:1', 'c:1', 'd:1', 'e:1', 'f:1'] }, 'invalid_request'],
    ['the step before the first', { first_step: 0 }, 'invalid_request'],
    ['another comparison', { compare: 'next_period' }, 'invalid_request'],
    ['a period before none', { compare: 'previous_period' }, 'compared_period_missing'],
    [
      'a period before one without a start',
      { compare: 'previous_year', last_days: 7, entered_to: '2026-11-01T00:00:00Z' },
      'compared_period_missing',
    ],
    [
      'half a period to compare with',
      { compare: 'custom', compare_from: '2026-10-01T00:00:00Z' },
      'compared_period_missing',
    ],
  ] as [string, Schemas['ViewQuery'], string][])(
    'is refused with %s',
    async ([, query, code], { workspace, client }) => {
      const saved = await save(client, workspace)
      expect((await save(client, workspace, { query })).code).toBe(code)
      expect(await codeOf(client.updateView({ path: saved, body: { query } }))).toBe(code)
      expect(await names(client)).toEqual(['Teams'])
    },
  )
})

describe('an own view', () => {
  it('is seen and changed by nobody else', async ({ cairn, workspace, client, owner }) => {
    const viewer = (await signUp(cairn, workspace, 'viewer')).client()
    const path = await save(viewer, workspace, { name: 'Mine', visibility: 'own' })
    expect(path).toMatchObject({ visibility: 'own' })
    expect(await names(viewer)).toEqual(['Mine'])
    for (const other of [owner.client(), client]) {
      expect(await names(other)).toEqual([])
      expect(await codeOf(other.getView({ path }))).toBe('view_not_found')
      expect(await codeOf(other.updateView({ path, body: { name: 'x' } }))).toBe('view_not_found')
      expect(await codeOf(other.removeView({ path }))).toBe('view_not_found')
    }
    expect((await viewer.updateView({ path, body: { name: 'Still mine' } })).data?.name).toBe('Still mine')
    expect((await viewer.removeView({ path })).response.status).toBe(204)
  })

  it('is given to the workspace by owners and admins', async ({ cairn, workspace, client, owner }) => {
    const viewer = (await signUp(cairn, workspace, 'viewer')).client()
    const admin = (await signUp(cairn, workspace, 'admin')).client()
    const body = { visibility: 'workspace' } as const
    const theirs = await save(viewer, workspace, { visibility: 'own' })
    expect(await codeOf(viewer.updateView({ path: theirs, body }))).toBe('role_not_allowed')
    const path = await save(admin, workspace, { name: 'Shared', visibility: 'own' })
    expect((await admin.updateView({ path, body })).data).toMatchObject({ visibility: 'workspace' })
    for (const other of [owner.client(), client, viewer]) expect(await names(other)).toContain('Shared')
    expect(await codeOf(viewer.updateView({ path, body: { name: 'x' } }))).toBe('role_not_allowed')
    expect(await codeOf(viewer.removeView({ path }))).toBe('role_not_allowed')
    expect((await save(viewer, workspace)).code).toBe('role_not_allowed')
  })

  it('does not exist for a key', async ({ workspace, client }) => {
    expect((await save(client, workspace, { visibility: 'own' })).code).toBe('session_required')
  })

  it('ends with the membership, those of the workspace stay', async ({ cairn, workspace, client, owner }) => {
    const admin = await signUp(cairn, workspace, 'admin')
    await save(admin.client(), workspace, { name: 'Mine', visibility: 'own' })
    await save(admin.client(), workspace, { name: 'Shared' })
    const other = await cairn.workspace()
    await addMember(cairn, other, admin, 'viewer')
    const elsewhere = admin.client(other.workspace_id)
    await save(elsewhere, other, { visibility: 'own' })
    await owner.client().removeMember({ path: { person_id: admin.person_id } })
    expect(await names(client)).toEqual(['Shared'])
    expect(await names(elsewhere)).toEqual(['Teams'])
    const rows = await inStore(cairn.databaseUrl, (db) => rowsOfWorkspace(db, workspace.workspace_id))
    expect(rows.views).toBe(1)
  })
})

describe('the number of views', () => {
  async function fill({ databaseUrl }: { databaseUrl: string }, workspace: Workspace, person?: SignedUp) {
    const { workspace_id, journey_id } = workspace
    const row = { workspace_id, journey_id, name: 'x', query: {}, created_ms: 0, updated_ms: 0 }
    await inStore(databaseUrl, async (db) => {
      for (let count = 0; count < 99; count += 1) {
        await insertView(db, { ...row, view_id: newId('viw'), person_id: person?.person_id ?? null })
      }
    })
  }

  it('is at most 100 in the workspace, and 100 of each member', async ({
    cairn,
    workspace,
    client,
    owner,
  }) => {
    const own = { visibility: 'own' } as const
    await fill(cairn, workspace)
    await fill(cairn, workspace, owner)
    const last = await save(owner.client(), workspace, own)
    expect(last.code).toBeUndefined()
    expect((await save(owner.client(), workspace, own)).code).toBe('view_limit')
    expect((await save(client, workspace)).code).toBeUndefined()
    expect((await save(client, workspace)).code).toBe('view_limit')
    const given = owner.client().updateView({ path: last, body: { visibility: 'workspace' } })
    expect(await codeOf(given)).toBe('view_limit')
    const renamed = await owner.client().updateView({ path: last, body: { name: 'Accounts' } })
    expect(renamed.data?.name).toBe('Accounts')
    const admin = await signUp(cairn, workspace, 'admin')
    expect((await save(admin.client(), workspace, own)).code).toBeUndefined()
    expect((await names(owner.client()))?.length).toBe(200)
  })
})

describe('the views of a journey', () => {
  it('go with it at once, and from the store soon', async ({ cairn, workspace, client, owner }) => {
    const name = randomUUID()
    const { data: journey } = await client.createJourney({ body: { name } })
    const path = { journey_id: journey?.journey_id ?? '' }
    const view = await save(owner.client(), workspace, { ...path, visibility: 'own' })
    await save(client, workspace, path)
    await save(client, workspace, { name: 'Stays' })
    await client.archiveJourney({ path })
    expect(await names(client, path)).toEqual(['Teams'])
    await owner.client().removeJourney({ path, body: { name } })
    expect(await names(owner.client())).toEqual(['Stays'])
    expect(await codeOf(owner.client().getView({ path: view }))).toBe('view_not_found')
    const rows = () => inStore(cairn.databaseUrl, (db) => rowsOfWorkspace(db, workspace.workspace_id))
    await expect.poll(async () => (await rows()).views).toBe(1)
  })
})

describe('the audit log', () => {
  it('has what is done to views of the workspace, and nothing of own ones', async ({ workspace, owner }) => {
    const client = owner.client()
    const own = await save(client, workspace, { visibility: 'own' })
    await client.updateView({ path: own, body: { name: 'Still mine' } })
    await client.removeView({ path: own })
    const path = await save(client, workspace, { query: { last_days: 30 } })
    await client.updateView({ path, body: { name: 'Accounts' } })
    await client.updateView({ path, body: { name: 'Accounts' } })
    await client.removeView({ path })
    const { data } = await client.listAuditLog({ query: { area: 'views' } })
    const { view_id } = path
    const { journey_id } = workspace
    expect(
      data?.data.map(({ action, subject, before, after }) => ({ action, subject, before, after })),
    ).toEqual([
      {
        action: 'view_removed',
        subject: { kind: 'view', id: view_id, name: 'Accounts' },
        before: { name: 'Accounts', journey_id, query: { last_days: 30 } },
        after: null,
      },
      {
        action: 'view_updated',
        subject: { kind: 'view', id: view_id, name: 'Accounts' },
        before: { name: 'Teams' },
        after: { name: 'Accounts' },
      },
      {
        action: 'view_created',
        subject: { kind: 'view', id: view_id, name: 'Teams' },
        before: null,
        after: { name: 'Teams', journey_id, query: { last_days: 30 } },
      },
    ])
  })
})
