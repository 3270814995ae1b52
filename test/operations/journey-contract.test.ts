// engines: sqlite, postgres

import { gunzipSync } from 'node:zlib'
import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { it } from '../fixtures/it.ts'

type Parsed = {
  openapi: string
  info: Record<string, string>
  components: { schemas: Record<string, object> }
}

describe('getJourneyContract', () => {
  it('describes the steps of the journey, as a file', async ({ client, workspace, api }) => {
    const path = { journey_id: workspace.journey_id }
    const steps = ['signed_up', 'Größe 🎉'].map((event_id) => ({ event_id, name: event_id }))
    await client.updateJourney({ path, body: { steps } })

    const reply = await api(`GET /journeys/${workspace.journey_id}/openapi.yaml`)

    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('application/yaml')
    expect(reply.headers.get('content-disposition')).toBe(
      `attachment; filename="${workspace.journey_id}.openapi.yaml"`,
    )
    expect(reply.headers.get('cache-control')).toBe('private, no-cache')
    const { openapi, info, components } = load(await reply.text()) as Parsed
    expect(openapi).toBe('3.1.0')
    expect(reply.headers.get('etag')).toMatch(new RegExp(`^"${info['x-digest']}(-gzip)?"$`))
    expect(components.schemas.JourneyId).toMatchObject({ const: workspace.journey_id })
    expect(components.schemas.SignedUpEvent).toMatchObject({
      properties: { event_id: { const: 'signed_up' } },
    })
    expect(JSON.stringify(components.schemas)).toContain('"const":"Größe 🎉"')
  })

  it('types the events that are defined, steps or not', async ({ client, workspace }) => {
    const path = { journey_id: workspace.journey_id }
    const line = { event_id: 'plan_chosen', description: 'Somebody chose a plan.' }
    const variables = { type: 'object', required: ['plan'], properties: { plan: { type: 'string' } } }
    const { data } = await client.defineEvent({ body: { ...line, variables } })
    const described = async () => {
      const { data } = await client.getJourneyContract({ path })
      return (load(await new Response(data).text()) as Parsed).components.schemas
    }

    expect((await described()).PlanChosenEvent).toMatchObject({
      description: 'Somebody chose a plan.',
      required: ['journey_id', 'customer_id', 'event_id', 'custom_variables'],
      properties: { event_id: { const: 'plan_chosen' }, custom_variables: variables },
    })
    const definition = { definition_id: data?.definition.definition_id ?? '' }
    await client.updateEventDefinition({ path: definition, body: { description: 'A plan was chosen.' } })
    expect((await described()).PlanChosenEvent).toMatchObject({ description: 'A plan was chosen.' })
    await client.removeEventDefinition({ path: definition })
    expect(Object.keys(await described())).not.toContain('PlanChosenEvent')
  })

  it('answers 304 without a body until something changes', async ({ client, workspace, api }) => {
    const path = { journey_id: workspace.journey_id }
    const line = `GET /journeys/${workspace.journey_id}/openapi.yaml`
    const etag = (await api(line)).headers.get('etag') ?? ''
    const ask = (tag: string) => api(line, { headers: { 'if-none-match': tag } })

    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const known = await ask(tag)
      expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, ''])
    }
    expect((await ask('"other"')).status).toBe(200)
    await client.updateJourney({ path, body: { steps: [{ event_id: 'invited', name: 'Invited' }] } })
    const changed = await ask(etag)
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(etag)
  })

  it('has a tag for the compressed form and another for the plain one', async ({ workspace, api }) => {
    const line = `GET /journeys/${workspace.journey_id}/openapi.yaml`
    const [plain, gzip] = await Promise.all(
      ['identity', 'gzip'].map((coding) => api(line, { headers: { 'accept-encoding': coding } })),
    )
    expect(gzip?.headers.get('etag')).toBe(plain?.headers.get('etag')?.replace(/"$/, '-gzip"'))
    expect(gzip?.headers.get('content-encoding')).toBe('gzip')
    const unpacked = gunzipSync(await (gzip as Response).arrayBuffer()).toString()
    expect(unpacked === (await plain?.text())).toBe(true)
  })

  it('answers 304 to the x-digest of the document, whatever codings the client accepts', async ({
    workspace,
    api,
  }) => {
    const line = `GET /journeys/${workspace.journey_id}/openapi.yaml`
    const { info } = load(await (await api(line)).text()) as Parsed
    const plain = `"${info['x-digest']}"`
    const gzip = `"${info['x-digest']}-gzip"`
    const ask = async (tags: string, coding: string) => {
      const headers = { 'if-none-match': tags, 'accept-encoding': coding }
      const reply = await api(line, { headers })
      await reply.arrayBuffer()
      return [reply.status, reply.headers.get('etag')]
    }

    expect(await ask(plain, 'identity')).toEqual([304, plain])
    expect(await ask(plain, 'gzip')).toEqual([304, plain])
    expect(await ask(`W/${plain}`, 'gzip, br')).toEqual([304, plain])
    expect(await ask(gzip, 'gzip')).toEqual([304, gzip])
    // The compressed form is not what this client would get.
    expect(await ask(gzip, 'identity')).toEqual([200, plain])
    expect(await ask('"other"', 'gzip')).toEqual([200, gzip])
  })

  it('describes an archived journey', async ({ client, workspace }) => {
    const path = { journey_id: workspace.journey_id }
    await client.archiveJourney({ path })
    expect((await client.getJourneyContract({ path })).response.status).toBe(200)
  })
})
