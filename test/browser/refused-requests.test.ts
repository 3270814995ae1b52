// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { signUp } from '../fixtures/people.ts'
import { inspectState, openAdministration, waitWithoutReading } from './administration.ts'
import { it } from './it.ts'
import { comeBackTo, heading, query, screenPath, tableRows } from './screens.ts'

describe('What was refused', () => {
  it('is shown without searching, grouped by cause, and is sent again once that is fixed', async ({
    cairn,
    workspace,
    client,
    event,
    open,
  }) => {
    const { journey_id, secret_key } = workspace
    await client.createEvent({ body: event })
    const path = { journey_id }
    await client.archiveJourney({ path })
    const sent = { ...event, event_id: 'plan_chosen' }
    for (let count = 0; count < 12; count += 1) await client.createEvent({ body: sent })
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    await cairn.fetch('/events/create', {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...sent, evnt_id: 'x' }),
    })

    const page = await open('overview')
    const key = `First secret key …${secret_key.slice(-4)}`
    const notice = page.getByRole('alert')
    await notice.getByText(/^13 rejected since \d\d:00: 12 events, 1 request$/).waitFor()
    await notice.getByText(/^Rejection rate: 92% of 13 received events\./).waitFor()
    await notice.getByText(`journey_archived from key ${key} since`).waitFor()
    await page.getByRole('link', { name: /^Events 13 rejected since/ }).waitFor()
    await inspectState(page, 'refused-notice')
    await notice.getByRole('link', { name: 'View rejected requests' }).click()
    await heading(page, 'Rejected requests').waitFor()

    const shape = page.getByRole('button', { name: /^invalid_request \/evnt_id from key/ })
    await shape.getByText('is not a field of the contract').waitFor()
    await shape.click()
    await page.getByText('Fix the sender as the error describes').waitFor()
    await page.getByText('"evnt_id"').waitFor()
    expect(await page.getByRole('button', { name: 'Preview replay' }).count()).toBe(0)
    const archived = page.getByRole('button', { name: /^journey_archived from key.*12×/ })
    await archived.click()
    const again = page.getByRole('button', { name: 'Preview again' })
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByText('12 would be rejected again: journey_archived (12).').waitFor()
    await client.restoreJourney({ path })
    await again.click()
    await page.getByText('12 would be stored.').waitFor()
    await page.getByRole('button', { name: 'Replay 12 requests' }).click()
    await page.getByText('12 stored.').waitFor()
    const stored = await client.listEvents({ query: { event_id: 'plan_chosen' } })
    expect(stored.data?.data).toHaveLength(12)

    await page.getByRole('table', { name: 'Rejected requests' }).getByRole('button').first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText(/^stored/).waitFor()
    await drawer.getByRole('button', { name: 'Preview replay' }).click()
    await drawer.getByText('1 would be duplicate.').waitFor()
    const latest = query(page).refusal
    expect(latest).toMatch(/^rfs_/)
    await page.keyboard.press('j')
    await drawer.getByRole('button', { name: 'Previous', disabled: false }).waitFor()
    expect(query(page).refusal).not.toBe(latest)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => query(page).refusal).toBe(latest)
    await inspectState(page, 'refusal-drawer')
  })

  it('has its day from the next day on', async ({ client, event, open }) => {
    await client.archiveJourney({ path: { journey_id: event.journey_id } })
    await client.createEvent({ body: event })
    const page = await open('events/refused', { turnsClock: true })
    const group = page.getByRole('button', { name: /^journey_archived from key/ })
    await group.waitFor()
    await waitWithoutReading(page, 24 * 3_600_000)
    await group.getByText(/since \d+ [A-Z][a-z]+, \d\d:\d\d/).waitFor()
    await group.getByText(/last received \d+ [A-Z][a-z]+, \d\d:\d\d/).waitFor()
  })

  it('is counted from a start that moves on while the screen stays open', async ({ open }) => {
    const page = await open('events/refused?last=1h', { turnsClock: true })
    await page.getByRole('heading', { name: 'No rejected requests' }).waitFor()
    const opened_ms = await page.evaluate(() => Date.now())
    const movedOn = page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url())
      const from_ms = Date.parse(searchParams.get('received_from') ?? '')
      return (
        pathname === '/v1/refusals/summary' && searchParams.get('periods') === '24' && from_ms > opened_ms
      )
    })
    await page.clock.fastForward(2 * 3_600_000)
    await movedOn
  })

  it('is listed and sent again from the start that it is counted from, while the screen stays open', async () => {
    let clock = Date.now() - 50 * 60_000
    const cairn = await startCairnForTest({ now: () => clock })
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    const path = { journey_id }
    const refuse = () => client.createEvent({ body: { journey_id, customer_id, event_id: 'plan_chosen' } })
    await client.archiveJourney({ path })
    await refuse()
    clock = Date.now()
    await refuse()
    await refuse()
    await client.restoreJourney({ path })
    const { headers } = await signUp(cairn, workspace, 'owner')
    const page = await openAdministration({
      cairn,
      signedIn: headers,
      path: screenPath(workspace, 'events/refused?last=1h'),
      turnsClock: true,
    })
    const group = page.getByRole('button', { name: /^journey_archived from key/ })
    await group.getByText('3×').waitFor()
    await group.click()
    await expect.poll(() => tableRows(page, 'Rejected requests').count()).toBe(3)
    await page.clock.fastForward(30 * 60_000)
    await group.getByText('2×').waitFor()
    await expect.poll(() => tableRows(page, 'Rejected requests').count()).toBe(2)
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByText(/^\d would be stored\.$/).waitFor()
    await page.getByText('2 would be stored.').waitFor()
  })

  it('is not denied, nor counted, for a span whose numbers are still loading', async ({
    client,
    event,
    open,
  }) => {
    await client.archiveJourney({ path: { journey_id: event.journey_id } })
    await client.createEvent({ body: event })
    const page = await open('events/refused?code=customer_not_found')
    const denied = page.getByRole('heading', { name: 'No rejected requests' })
    await denied.waitFor()
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('1 rejected', { exact: true }).waitFor()
    await page.route(/\/v1\/(activity|refusals\/summary)/, () => {})
    await page.getByText('7 d', { exact: true }).click()
    await counters.getByText('in the last 7 days').waitFor()
    await counters.getByText('… rejected', { exact: true }).waitFor()
    await denied.waitFor({ state: 'detached' })
  })

  it('is sent again as the preview has counted it, whatever arrives or is filtered after that', async ({
    client,
    event,
    open,
  }) => {
    const { journey_id } = event
    const path = { journey_id }
    const refuse = async (event_id: string) => {
      await client.archiveJourney({ path })
      await client.createEvent({ body: { ...event, event_id } })
      await client.restoreJourney({ path })
    }
    await refuse('plan_chosen')
    await refuse('renewed')
    const page = await open('events/refused')
    await page.getByRole('button', { name: /^journey_archived from key.*2×/ }).click()
    const preview = page.getByRole('button', { name: 'Preview replay' })
    await preview.click()
    await page.getByText('2 would be stored.').waitFor()

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('searchbox', { name: 'event_id' }).fill('renewed')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^journey_archived from key.*1×/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Replay 2 requests' }).count()).toBe(0)
    await preview.click()
    await page.getByText('1 would be stored.').waitFor()

    await refuse('renewed')
    await comeBackTo(page)
    await page.getByRole('button', { name: /^journey_archived from key.*2×/ }).waitFor()
    await page.getByRole('button', { name: 'Replay 1 request' }).click()
    await page.getByText(/^\d stored\.$/).waitFor()
    await page.getByText('1 stored.').waitFor()
    const stored = await client.listEvents({ query: { journey_id } })
    expect(stored.data?.data).toHaveLength(1)

    await page.getByRole('button', { name: /^event renewed/ }).click()
    await page.getByRole('button', { name: /^journey_archived from key.*3×/ }).waitFor()
    await preview.click()
    await page.getByText('2 would be stored, 1 would be duplicate.').waitFor()
  })

  it('is sent again in part if that fails half-way, which the screen says, and can be continued', async ({
    client,
    event,
    open,
  }) => {
    const path = { journey_id: event.journey_id }
    await client.archiveJourney({ path })
    for (let count = 0; count < 3; count += 1) await client.createEvent({ body: event })
    await client.restoreJourney({ path })
    const page = await open('events/refused', { refusals: ['500 POST /v1/refusals/replay'] })
    let pages = 0
    let isBroken = true
    await page.route(/\/v1\/refusals\/replay\?limit=500(?!.*dry_run)/, (route) => {
      pages += 1
      if (isBroken && pages > 2) return route.fulfill({ status: 500, body: '' })
      return route.continue({ url: route.request().url().replace('limit=500', 'limit=1') })
    })
    await page.getByRole('button', { name: /^journey_archived from key.*3×/ }).click()
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByRole('button', { name: 'Replay 3 requests' }).click()
    await page.getByText('Before this error: 2 stored.').waitFor()
    expect((await client.listEvents()).data?.data).toHaveLength(2)

    isBroken = false
    await page.getByRole('button', { name: 'Preview again' }).click()
    await page.getByText('1 would be stored, 2 would be duplicate.').waitFor()
    await page.getByRole('button', { name: 'Replay 1 request' }).click()
    await page.getByText('1 stored, 2 duplicate.').waitFor()
    expect((await client.listEvents()).data?.data).toHaveLength(3)
  })

  it('is listed by its field, and sent again with all of its code and key, which the screen says', async ({
    workspace,
    client,
    owner,
    event,
    open,
  }) => {
    const { workspace_id } = workspace
    const integer = { type: 'integer' } as const
    await owner.client(workspace_id).defineEvent({
      body: {
        event_id: 'plan_chosen',
        mode: 'enforce',
        variables: { type: 'object', properties: { plan: integer, plan_name: integer } },
      },
    })
    for (const name of ['plan', 'plan', 'plan_name', 'plan_name', 'plan_name']) {
      const custom_variables = { [name]: 'pro' }
      await client.createEvent({ body: { ...event, event_id: 'plan_chosen', custom_variables } })
    }
    const page = await open('events/refused')
    await page.getByRole('button', { name: /^event_not_as_defined \/custom_variables\/plan from/ }).click()
    const listed = tableRows(page, 'Rejected requests')
    await listed.first().waitFor()
    expect(await listed.count()).toBe(2)
    await page.getByText('Replays every request with this code and key, whatever its field.').waitFor()
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByText('5 would be rejected again: event_not_as_defined (5).').waitFor()
    await inspectState(page, 'refusals-by-field')
  })

  it('is counted equally on every screen: events, requests and registrations each by its own name', async ({
    cairn,
    workspace,
    client,
    event: sent,
    open,
  }) => {
    const { journey_id, secret_key } = workspace
    const unknown = { ...sent, customer_id: 'cus_unknown' }
    const resent = { ...sent, message_id: 'm-1' }
    const events = [sent, { ...sent, message_id: 'm-2' }, resent, resent, resent, unknown, unknown]
    await client.createEvents({ body: { events } })
    await client.createEvent({ body: resent })
    await client.createEvent({ body: unknown })
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    for (let count = 0; count < 31; count += 1) await post('/events/create', { ...sent, evnt_id: 'x' })
    await post('/events/batch', { events: [sent, { ...sent, customVariables: {} }] })
    const person = {
      journey_id,
      client_customer_id: 'user-2',
      customer_name: 'Grace',
      customer_type: 'person',
    }
    for (let count = 0; count < 4; count += 1) await post('/customers/initialize', person)

    const activity = (await client.getActivity()).data?.total
    const kinds = async () => (await client.getRefusalSummary({ query: { periods: 1 } })).data?.kinds
    expect(activity).toEqual({ created: 3, duplicate: 3, rejected: 3 })
    await expect.poll(kinds).toEqual({ events: 3, requests: 32, customers: 4 })

    const page = await open('overview')
    const arrivals = page.getByRole('region', { name: 'Incoming events' })
    await arrivals.getByText(/^Events are arriving, but most are rejected\./).waitFor()
    // Of the last hour and of the last day.
    const counts = '9 received, 3 duplicates, 3 rejected'
    await expect.poll(() => arrivals.getByText('3 events created', { exact: true }).count()).toBe(2)
    await expect.poll(() => arrivals.getByText(counts, { exact: true }).count()).toBe(2)
    const whole = '32 requests, 4 registrations rejected'
    await expect.poll(() => arrivals.getByText(whole, { exact: true }).count()).toBe(2)
    const all = '3 events, 32 requests, 4 registrations'
    await page
      .getByRole('alert')
      .getByText(new RegExp(`^39 rejected since \\d\\d:00: ${all}$`))
      .waitFor()
    await page.getByText('Rejection rate: 33% of 9 received events').waitFor()
    await page.getByRole('link', { name: /^Events 39 rejected since/ }).waitFor()
    const refused = page.getByRole('region', { name: 'Rejected requests' })
    await refused.getByText(`In the last 24 hours: ${all}.`).waitFor()
    await refused.getByRole('cell', { name: all, exact: true }).waitFor()
    await inspectState(page, 'overview-rejected')

    for (const screen of ['events', 'events/refused']) {
      await page.goto(`${cairn.url}/admin${screenPath(workspace, screen)}`)
      const over = page.getByRole('region', { name: 'Events over time' })
      const legend = [
        '3 created',
        '3 duplicate',
        '3 rejected',
        '32 requests rejected',
        '4 registrations rejected',
      ]
      for (const text of legend) await over.getByText(text, { exact: true }).waitFor()
    }
  })

  it('is counted in the singular if there is one', async ({ cairn, workspace, open }) => {
    const { journey_id, secret_key } = workspace
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    for (const path of ['/events/create', '/customers/initialize']) {
      await cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify({ journey_id }) })
    }
    const page = await open('events')
    const over = page.getByRole('region', { name: 'Events over time' })
    for (const noun of ['request', 'registration']) {
      await over.getByText(`1 ${noun} rejected`, { exact: true }).waitFor()
      await over.getByRole('button', { name: new RegExp(`, 1 ${noun} rejected`) }).waitFor()
    }
  })

  it('shows each of ten mistakes of an application, what was sent and what to do', async ({
    cairn,
    workspace,
    client,
    event,
    open,
  }) => {
    const { journey_id, secret_key } = workspace
    const newJourney = async (name: string) => {
      const { data } = await client.createJourney({ body: { name } })
      return data?.journey_id ?? ''
    }
    const [other, over] = [await newJourney('Renewal'), await newJourney('Beta')]
    await initialize({ client, journey_id: over }, 'user-1')
    await client.archiveJourney({ path: { journey_id: over } })
    await client.createEvent({ body: { ...event, message_id: 'sign-up-1' } })
    // Not ASCII, so that there are more bytes than characters.
    const custom_variables = { city: 'Zürich' }
    const sent = { ...event, custom_variables }
    const names = { journey_id, client_customer_id: 'user-2', customer_name: 'Zoë' }
    const ahead = new Date(Date.now() + 2 * 3_600_000).toISOString()
    const large = { ...sent, custom_variables: { page: 'x'.repeat(70_000) } }
    const requests: [path: string, body: object][] = [
      ['/events/create', { ...sent, customer_id: 'user-1' }],
      ['/events/create', { ...sent, journey_id: other }],
      ['/events/create', { ...sent, journey_id: 'Onboarding' }],
      ['/events/create', { ...sent, journey_id: over }],
      ['/events/create', { ...sent, occurred_at: ahead }],
      ['/events/create', { ...sent, event_id: 'plan_chosen', message_id: 'sign-up-1' }],
      ['/events/create', { ...sent, customVariables: { plan: 'pro' } }],
      ['/events/create', { ...sent, occurred_at: '2026-11-20 09:00:00' }],
      ['/customers/initialize', { ...names, customer_type: 'person' }],
      ['/events/batch', { events: [large] }],
    ]
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    for (const [path, body] of requests) {
      await cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    }

    const page = await open('events/refused')
    const whole = /^Request body$/
    const found: [group: RegExp, sent: string, cure: string, kept?: RegExp][] = [
      [/^customer_not_found from key/, '"user-1"', 'send the customer_id that it returns'],
      [/^customer_not_in_journey from key/, `"${other}"`, 'is not enrolled in this journey'],
      [/^journey_not_found from key/, '"Onboarding"', 'Copy it from the journey’s page'],
      [/^journey_archived from key/, `"${over}"`, 'Restore it on its settings page'],
      [/^occurred_at_in_future from key/, `"${ahead}"`, 'Correct the clock'],
      [/^message_id_conflict from key/, '"sign-up-1"', 'give a new event a new message_id'],
      [/^invalid_request \/customVariables from key/, '"pro"', 'does not match the contract'],
      [/^invalid_request \/occurred_at from key/, '"2026-11-20 09:00:00"', 'does not match the contract'],
      [/^invalid_request \/customer_type from key/, '"person"', 'does not match the contract'],
      [
        /^event_too_large from key/,
        '"signed_up"',
        'An event can have up to 64 KiB',
        /^Request body \(16,384 of 70,\d{3} bytes\)$/,
      ],
    ]
    for (const [name, sent, cure, kept = whole] of found) {
      const group = page.getByRole('button', { name })
      await group.click()
      const line = page.getByRole('listitem').filter({ has: group })
      await line.getByText(cure).waitFor()
      await line.getByText(sent).first().waitFor()
      await line.getByText(kept).waitFor()
      await group.click()
    }
    expect(await page.getByRole('button', { name: / from key / }).count()).toBe(found.length)
  })

  it('is not shown to viewers, who learn who can see it', async ({ cairn, workspace, open }) => {
    const viewer = await signUp(cairn, workspace, 'viewer')
    const page = await open('events/refused', { signedIn: viewer.headers })
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
  })

  it('is counted on the overview, where no link leads a viewer to it', async ({
    cairn,
    client,
    event,
    workspace,
    open,
  }) => {
    await client.archiveJourney({ path: { journey_id: event.journey_id } })
    await client.createEvents({ body: { events: [event] } })
    const viewer = await signUp(cairn, workspace, 'viewer')
    const page = await open('overview', { signedIn: viewer.headers })
    const part = page.getByRole('region', { name: 'Rejected requests' })
    await part.getByRole('row', { name: /^First secret key .* 1 event / }).waitFor()
    expect(await part.getByRole('link').count()).toBe(0)
  })
})
