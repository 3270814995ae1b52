// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Schemas } from '../../client/person.ts'
import type { Workspace } from '../fixtures/cairn.ts'
import { it } from '../fixtures/it.ts'
import { addMember, newPerson } from '../fixtures/people.ts'
import { createKey } from '../fixtures/service-keys.ts'

/** The names of the journeys that match a search, newest first. */
async function journeysFound({ client }: Workspace, search: string) {
  const { data, error } = await client.listJourneys({ query: { search } })
  return data ? data.data.map(({ name }) => name) : error
}

describe('a search for journeys', () => {
  it('finds names in which a word begins with each word of the text, newest first', async ({ workspace }) => {
    for (const name of [
      'Renewal of Contracts',
      'Création (EU)',
      'Ｒｅｎｅｗａｌ 2027',
      '100 % trial_phase',
    ]) {
      await workspace.client.createJourney({ body: { name } })
    }
    for (const [search, ...expected] of [
      ['renewal', 'Ｒｅｎｅｗａｌ 2027', 'Renewal of Contracts'],
      ['CON ren', 'Renewal of Contracts'],
      ['ontracts'],
      ['creation', 'Création (EU)'],
      ['eu', 'Création (EU)'],
      ['onb', 'Onboarding'],
      ['%'],
      ['_'],
      ['trial', '100 % trial_phase'],
      ['renewal nothing'],
    ]) {
      expect([search, await journeysFound(workspace, search ?? '')]).toEqual([search, expected])
    }
  })

  it('follows a new name, and finds a journey by its whole identifier', async ({ workspace }) => {
    const { journey_id, client } = workspace
    await client.updateJourney({ path: { journey_id }, body: { name: 'Checkout' } })
    expect(await journeysFound(workspace, 'onb')).toEqual([])
    expect(await journeysFound(workspace, 'check')).toEqual(['Checkout'])
    await client.updateJourney({ path: { journey_id }, body: { description: 'Onboarding' } })
    expect(await journeysFound(workspace, 'check')).toEqual(['Checkout'])
    expect(await journeysFound(workspace, ` ${journey_id} `)).toEqual(['Checkout'])
    expect(await journeysFound(workspace, journey_id.slice(0, -1))).toEqual([])
  })

  it('finds within a status and within the workspace', async ({ cairn, workspace }) => {
    const { client, journey_id } = workspace
    const found = async (status: 'active' | 'archived') =>
      (await client.listJourneys({ query: { search: 'onboarding', status } })).data?.data.length
    expect([await found('active'), await found('archived')]).toEqual([1, 0])
    await client.archiveJourney({ path: { journey_id } })
    expect([await found('active'), await found('archived')]).toEqual([0, 1])
    const other = await cairn.workspace()
    expect(await journeysFound(other, journey_id)).toEqual([])
  })

  it('accepts 255 characters and refuses more, none and NUL', async ({ workspace }) => {
    expect(await journeysFound(workspace, 'a '.repeat(127))).toEqual([])
    for (const search of ['a'.repeat(256), '', 'a\0']) {
      expect(await journeysFound(workspace, search)).toMatchObject({
        status: 400,
        errors: [{ parameter: 'search' }],
      })
    }
  })
})

describe('a list of service keys', () => {
  it('can be filtered by name, last four characters, identifier, kind and status', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const api = owner.client(workspace.workspace_id)
    const made = await api.createServiceKey({ body: { kind: 'secret', name: 'Mobile app' } })
    const key_id = made.data?.key_id ?? ''
    const last_four = made.data?.last_four ?? ''
    await api.updateServiceKey({ path: { key_id }, body: { name: 'Import job' } })
    const old = await createKey(cairn, workspace, 'publishable', { expires_ms: Date.now() - 1 })
    const revoked = await createKey(cairn, workspace, 'publishable')
    await api.revokeServiceKey({ path: { key_id: revoked.key_id } })

    type Query = { kind?: Schemas['KeyKind']; status?: Schemas['KeyStatus']; search?: string }
    const found = async (query: Query) =>
      (await api.listServiceKeys({ query })).data?.data.map(({ key_id }) => key_id)
    expect(await found({ search: 'job' })).toEqual([key_id])
    expect(await found({ search: 'mobile' })).toEqual([])
    expect(await found({ search: key_id })).toEqual([key_id])
    expect(await found({ search: last_four })).toContain(key_id)
    expect(await found({ search: 'test', status: 'expired' })).toEqual([old.key_id])
    expect(await found({ status: 'revoked' })).toEqual([revoked.key_id])
    const active = await found({ status: 'active' })
    expect(active).toHaveLength(3)
    expect(active?.[0]).toBe(key_id)
    expect(await found({ kind: 'publishable', status: 'active' })).toHaveLength(1)
    expect(await found({ kind: 'secret', search: 'import job' })).toEqual([key_id])
  })

  it('finds a key that replaced another of the same name', async ({ workspace, owner }) => {
    const api = owner.client(workspace.workspace_id)
    const made = await api.createServiceKey({ body: { kind: 'secret', name: 'Backend for maps' } })
    await api.rotateServiceKey({ path: { key_id: made.data?.key_id ?? '' }, body: { grace_seconds: 3600 } })
    expect((await api.listServiceKeys({ query: { search: 'maps' } })).data?.data).toHaveLength(2)
  })
})

describe('a search for members', () => {
  it('finds by the beginnings of words of the name, by the beginning of the email and by identifier', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const api = owner.client(workspace.workspace_id)
    const grace = { ...(await newPerson(cairn)) }
    await addMember(cairn, workspace, grace, 'viewer')
    const found = async (search: string) =>
      (await api.listMembers({ query: { search } })).data?.data.map(({ person_id }) => person_id)
    const words = grace.name.split(' ')
    expect(await found(words.at(-1)?.toUpperCase() ?? '')).toContain(grace.person_id)
    expect(await found(grace.email.slice(0, -4).toUpperCase())).toEqual([grace.person_id])
    expect(await found(owner.person_id)).toEqual([owner.person_id])
    expect(await found(grace.email.slice(1))).toEqual([])
  })
})
