// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { createPersonClient } from '../../client/person.ts'
import { type Answer, html, json, problem, reset, startScriptedServer } from './scripted-server.ts'

const credentials = { email: 'grace@example.com', password: 'nine-lives-of-a-moth' }
const path = { person_id: 'per_1', journey_id: 'jrn_1' }
const emptyPage = { data: [], next_cursor: null }
const noContent: Answer = (_request, response) => {
  response.writeHead(204).end()
}

describe('a request of a person', () => {
  it('names the workspace and carries no service key', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(200, emptyPage))
    const cairn = createPersonClient({ baseUrl, workspaceId: 'wsp_1' })

    const members = await cairn.listMembers({ query: { limit: 10 } })
    const journeys = await cairn.listJourneys()

    expect([members.data, journeys.data]).toEqual([emptyPage, emptyPage])
    expect(arrivals).toMatchObject([
      { method: 'GET', url: '/v1/members?limit=10', headers: { 'x-workspace-id': 'wsp_1' } },
      { method: 'GET', url: '/v1/journeys', headers: { 'x-workspace-id': 'wsp_1' } },
    ])
    for (const { headers } of arrivals) expect(headers).not.toHaveProperty('x-service-key')
  })

  it('names no workspace where none is given', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(json(201, {}))

    await createPersonClient({ baseUrl, workspaceId: undefined }).signIn({ body: credentials })

    expect(arrivals).toMatchObject([
      { method: 'POST', url: '/v1/session', body: JSON.stringify(credentials) },
    ])
    expect(arrivals[0]?.headers).not.toHaveProperty('x-workspace-id')
  })

  it('leaves the cookie to the browser, which sends it to its own origin alone', async () => {
    const modes: RequestCredentials[] = []
    const cairn = createPersonClient({
      baseUrl: 'http://127.0.0.1/v1',
      async fetch({ credentials }) {
        modes.push(credentials)
        return Response.json(emptyPage)
      },
    })

    await cairn.listMembers()

    expect(modes).toEqual(['same-origin'])
  })

  it('gives undefined for 204', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(noContent)
    const cairn = createPersonClient({ baseUrl })

    const results = [await cairn.signOut(), await cairn.removeMember({ path })]

    expect(results).toMatchObject([
      { data: undefined, response: { status: 204 } },
      { data: undefined, response: { status: 204 } },
    ])
    expect(arrivals).toMatchObject([
      { method: 'DELETE', url: '/v1/session', body: '' },
      { method: 'DELETE', url: '/v1/members/per_1', body: '' },
    ])
  })
})

describe('a retry for a person', () => {
  it.each([
    ['a reset connection', reset],
    ['429', problem(429, 'rate_limited')],
    ['503', problem(503, 'overloaded')],
    ["a proxy's 503", html(503)],
    ["a proxy's 504", html(504)],
  ])('repeats a read after %s', async (_name, answer) => {
    const { baseUrl, arrivals } = await startScriptedServer(answer, json(200, emptyPage))

    const { data } = await createPersonClient({ baseUrl, workspaceId: 'wsp_1' }).listJourneys()

    expect(data).toEqual(emptyPage)
    expect(arrivals).toHaveLength(2)
    expect(arrivals[1]?.headers).toMatchObject({ 'x-workspace-id': 'wsp_1' })
  })

  it('repeats a read up to `retries` times', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(problem(503, 'overloaded'))

    const { error } = await createPersonClient({ baseUrl, retries: 1 }).getSession()

    expect(error?.code).toBe('overloaded')
    expect(arrivals).toHaveLength(2)
  })

  it.each([
    ['too many attempts', problem(429, 'too_many_attempts')],
    ['429', problem(429, 'rate_limited')],
    ['503', problem(503, 'overloaded')],
  ])('repeats nothing else after %s', async (_name, answer) => {
    const { baseUrl, arrivals } = await startScriptedServer(answer)
    const cairn = createPersonClient({ baseUrl })

    const results = [
      await cairn.signIn({ body: credentials }),
      await cairn.updateMember({ path, body: { role: 'admin' } }),
      await cairn.removeMember({ path }),
      await cairn.archiveJourney({ path }),
    ]

    for (const { error, response } of results) expect(error?.status).toBe(response.status)
    expect(arrivals).toHaveLength(results.length)
  })

  it('repeats nothing else after a network error', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(reset)

    await expect(createPersonClient({ baseUrl }).signIn({ body: credentials })).rejects.toThrow(TypeError)

    expect(arrivals).toHaveLength(1)
  })
})
