// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { connect } from '../fixtures/file-store.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { addMember, browser, newEmail, newPerson, type SignedUp, signIn, signUp } from '../fixtures/people.ts'
import { inspectState, openAdministration } from './administration.ts'
import { heading, query, screenPath, tableRows } from './screens.ts'

/** Thirteen hours ahead of UTC in November, so most instants fall on another day there. */
const auckland = { timezoneId: 'Pacific/Auckland' }

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  cairn = await startCairn()
})

afterAll(() => cairn?.stop())

beforeEach(async () => {
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

async function open(screen: string, zone: { timezoneId?: string } = {}): Promise<Page> {
  const path = screenPath(workspace, screen)
  return await openAdministration({ cairn, signedIn: owner.headers, path, ...zone })
}

/** Sends an event. @returns its id */
async function event(
  customer_id: string,
  event_id: string,
  more: Partial<Schemas['EventCreation']> = {},
): Promise<string> {
  const { client, journey_id } = workspace
  const { data, error } = await client.createEvent({ body: { journey_id, customer_id, event_id, ...more } })
  if (error) throw new Error(error.detail)
  return data.id
}

/** The first column of a table, row by row. */
async function firstColumn(page: Page, table: string): Promise<string[]> {
  const rows = tableRows(page, table)
  const names = await rows.evaluateAll((rows) =>
    rows.map((row) => row.querySelector('td a, td button')?.firstChild?.textContent ?? ''),
  )
  return names
}

function customerNames(page: Page): Promise<string[]> {
  return firstColumn(page, 'Customers')
}

function searchField(page: Page): Locator {
  return page.getByRole('searchbox', { name: 'Search customers' })
}

describe('Customers', () => {
  it('are found by any word of a name in any letter case, by one’s own identifier and by a customer_id', async () => {
    const ada = await initialize(workspace, 'user-1')
    await initialize(workspace, 'user-2', { customer_name: 'ADALBERT Stifter' })
    await initialize(workspace, 'Ada-3', { customer_name: 'Grace Hopper' })
    await initialize(workspace, 'company-4', { customer_name: 'Canada Ltd', customer_type: 'account' })
    const page = await open('customers')
    await expect
      .poll(() => customerNames(page))
      .toEqual(['Canada Ltd', 'Grace Hopper', 'ADALBERT Stifter', 'Ada Lovelace'])

    const searches: [search: string, found: string[]][] = [
      ['aDa', ['ADALBERT Stifter', 'Ada Lovelace']],
      ['Ada', ['Grace Hopper', 'ADALBERT Stifter', 'Ada Lovelace']],
      ['user-', ['ADALBERT Stifter', 'Ada Lovelace']],
      ['company-4', ['Canada Ltd']],
      ['love', ['Ada Lovelace']],
      ['stif ada', ['ADALBERT Stifter']],
      [` ${ada} `, ['Ada Lovelace']],
      [' user-1 ', ['Ada Lovelace']],
    ]
    for (const [search, found] of searches) {
      await searchField(page).fill(search)
      await expect.poll(() => query(page)).toEqual({ search })
      await expect.poll(() => customerNames(page), { message: search }).toEqual(found)
    }
    await searchField(page).fill('nobody')
    await page.getByRole('heading', { name: 'No customer found' }).waitFor()
    await searchField(page).fill('')
    await page.getByText('Accounts', { exact: true }).click()
    await expect.poll(() => customerNames(page)).toEqual(['Canada Ltd'])
    expect(query(page)).toEqual({ type: 'account' })
  })

  it('show when they were last seen and how many events they have', async () => {
    const seen = await initialize(workspace, 'user-1')
    await initialize(workspace, 'user-2', { customer_name: 'Grace Hopper' })
    const occurred_at = new Date(Date.now() - 7_200_000).toISOString()
    const event = { journey_id: workspace.journey_id, customer_id: seen, event_id: 'viewed', occurred_at }
    await workspace.client.createEvents({ body: { events: [event, event, event] } })
    for (const [count, customer_name] of [
      [199, 'Alan Turing'],
      [200, 'Edsger Dijkstra'],
    ] as const) {
      const customer_id = await initialize(workspace, `user of ${count}`, { customer_name })
      const events = Array.from({ length: count }, () => ({ ...event, customer_id }))
      await workspace.client.createEvents({ body: { events } })
    }
    const page = await open('customers')
    const row = (name: string) => page.getByRole('row', { name }).innerText()
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    expect(await row('Ada Lovelace')).toMatch(/2 hours ago\s+3\s/)
    expect(await row('Grace Hopper')).toMatch(/Never\s+0\s/)
    expect(await row('Alan Turing')).toMatch(/2 hours ago\s+199\s/)
    // No more are counted in a list.
    expect(await row('Edsger Dijkstra')).toMatch(/2 hours ago\s+200\+\s/)

    await page.setViewportSize({ width: 360, height: 800 })
    for (const events of ['3 events', '199 events', '200+ events']) {
      await page.getByRole('row').getByText(events, { exact: true }).waitFor()
    }
  })

  it('are searched further if the newest pages have no match: automatically at first, then on request', async () => {
    // More than ten thousand match, so the list is walked, and the oldest come after a dozen empty pages.
    connect(sqlitePath(cairn.databaseUrl)).exec(`
      WITH RECURSIVE counter (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM counter WHERE value < 127500)
      INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name, created_ms,
        updated_ms, name_key)
      SELECT '${workspace.workspace_id}', 'cus_' || printf('%026d', value), 'contact', 'user-' || value,
        iif(value <= 12500, 'Ada ', 'Grace ') || value, value, value, iif(value <= 12500, ' ada ', ' grace ') || value
      FROM counter;
      INSERT INTO customer_words SELECT workspace_id, iif(created_ms <= 12500, 'ada', 'grace'), created_ms, customer_id
        FROM customers WHERE created_ms <= 127500`)
    const page = await open('customers')
    await searchField(page).fill('ada')
    await page.getByText('No match among the newest items. Older items were not searched yet.').waitFor()
    expect(await page.getByRole('heading', { name: 'No customer found' }).count()).toBe(0)
    await inspectState(page, 'customers-look-further')
    await page.getByRole('button', { name: 'Search older' }).click()
    await expect.poll(() => customerNames(page)).toHaveLength(50)
    expect((await customerNames(page))[0]).toBe('Ada 12500')
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => customerNames(page)).toHaveLength(100)
  })

  it('are printed with what is searched for, and without an empty search field', async () => {
    await initialize(workspace, 'user-1')
    const page = await open('customers')
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    const printed = page.locator('main').getByRole('searchbox').filter({ visible: true })
    expect(await printed.count()).toBe(0)
    await page.emulateMedia({ media: 'screen' })
    await searchField(page).fill('ada')
    await page.emulateMedia({ media: 'print' })
    expect(await printed.inputValue()).toBe('ada')
  })

  it('are found as before after Back and after a reload', async () => {
    await initialize(workspace, 'user-1')
    await initialize(workspace, 'user-2', { customer_name: 'Grace Hopper' })
    const page = await open('journeys')
    await page.getByRole('link', { name: 'Customers' }).click()
    await searchField(page).fill('grace')
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'Grace Hopper' }).click()
    await heading(page, 'Grace Hopper').waitFor()

    for (const back of [() => page.goBack(), () => page.reload()]) {
      await back()
      await expect.poll(() => customerNames(page)).toEqual(['Grace Hopper'])
      expect(await searchField(page).inputValue()).toBe('grace')
    }
    await page.goBack()
    await heading(page, 'Journeys').waitFor()
  })

  it('are exported with the active filters, and an incomplete export is reported', async () => {
    await initialize(workspace, 'user-1')
    await initialize(workspace, '=user-2', { customer_name: 'Ada, "Countess"' })
    await initialize(workspace, 'user-3', { customer_name: 'Grace Hopper' })
    const page = await open('customers')
    await page.getByLabel('Search customers').fill('ada')
    await page.getByText('2 customers').waitFor()
    const save = async (format: string) => {
      await page.getByRole('button', { name: 'Export' }).click()
      const saved = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: format }).click()
      const download = await saved
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
    }
    const csv = await save('CSV')
    expect(csv.name).toMatch(/^customers-\d{8}T\d{6}Z\.csv$/)
    expect(csv.text).toContain(`,'=user-2,contact,"Ada, ""Countess""",`)
    // Rows only: the names of the columns, and two customers.
    expect(csv.text.split('\r\n').map((line) => line.split(',')[0])).toEqual([
      '\ufeffcustomer_id',
      expect.stringMatching(/^cus_/),
      expect.stringMatching(/^cus_/),
      '',
    ])
    const { name, text } = await save('NDJSON')
    const lines = jsonLines(text)
    expect(name).toMatch(/\.ndjson$/)
    expect(lines.map(({ customer_name }) => customer_name)).toEqual([
      'Ada Lovelace',
      'Ada, "Countess"',
      undefined,
    ])
    expect(lines.at(-1)).toMatchObject({ end: 2, filter: { search: 'ada' } })

    await page.route('**/customers/export?*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: (await answer.text()).split('\n')[0] ?? '' })
    })
    await page.getByRole('button', { name: 'Export' }).click()
    await inspectState(page, 'export-menu')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    await page.getByText('The download is incomplete').waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    await page.getByText('The download is incomplete').waitFor()
  })

  it('are paged, without duplicates or gaps', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `Customer ${index + 1}`)
    for (const name of names) await initialize(workspace, name, { customer_name: name })
    const page = await open('customers')
    for (const shown of [50, 100]) {
      await expect.poll(() => customerNames(page)).toEqual(names.toReversed().slice(0, shown))
      await page.getByRole('button', { name: 'Show more' }).click()
    }
    await expect.poll(() => customerNames(page)).toEqual(names.toReversed())
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  })
})

describe('A customer', () => {
  const early = '2026-10-30T11:30:00.123Z'
  const later = '2026-10-30T10:59:59.999Z'

  it('has a timeline by days of the viewer’s time zone, with the exact instant in UTC on hover and focus', async () => {
    const id = await initialize(workspace, 'user-1')
    const { journey_id, client } = workspace
    const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    await event(id, 'signed_up', { occurred_at: later })
    await event(id, 'first_report', { occurred_at: early, message_id: 'message-1' })
    const page = await open(`customers/${id}`, auckland)

    await heading(page, 'Ada Lovelace').waitFor()
    const days = page.getByRole('heading', { level: 3 })
    await days.first().waitFor()
    // 11:00 UTC is midnight in Auckland.
    expect(await days.allInnerTexts()).toEqual(['Saturday, 31 October 2026', 'Friday, 30 October 2026'])
    const first = page.getByRole('region', { name: 'Events on Saturday, 31 October 2026' })
    const second = page.getByRole('region', { name: 'Events on Friday, 30 October 2026' })
    await first.getByText('first_report').waitFor()
    await second.getByText('Signed up', { exact: true }).waitFor()
    await first.getByRole('button', { name: /first_report/ }).press('Enter')

    const time = first.getByText('31 Oct 2026, 00:30')
    await second.getByRole('button', { name: /signed_up/ }).press('Enter')
    await time.hover()
    await page.getByRole('tooltip', { name: early }).waitFor()
    await page.mouse.move(0, 0)
    await page.getByRole('tooltip', { name: early }).waitFor({ state: 'hidden' })
    await second.getByText('30 Oct 2026, 23:59').focus()
    await page.getByRole('tooltip', { name: later }).waitFor()
    expect(await time.getAttribute('datetime')).toBe(early)
  })

  it('shows custom variables in full, whatever they are', async () => {
    const long = 'nearly 64 KiB in all, '.repeat(2950)
    const values: [event_id: string, Schemas['EventCreation']['custom_variables'] | undefined][] = [
      ['with_nothing', undefined],
      ['with_text', 'Came by the newsletter\nof November'],
      ['with_object', { plan: 'pro', seats: 12, trial: false, referrer: null, 'a "name"': '42', empty: '' }],
      ['with_nested', { address: { city: 'Praha', lines: ['Na Příkopě 1', { floor: 2 }] } }],
      ['with_long', { note: long, short: 'beside it' }],
    ]
    const id = await initialize(workspace, 'user-1')
    for (const [event_id, custom_variables] of values) {
      await event(id, event_id, custom_variables === undefined ? {} : { custom_variables })
    }
    const page = await open(`customers/${id}`)
    const item = (event_id: string) =>
      page.getByRole('listitem').filter({ has: page.getByText(event_id, { exact: true }) })
    await item('with_long').waitFor()
    for (const [event_id] of values) await item(event_id).getByRole('button').first().click()

    const fields = async (of: Locator) =>
      await of
        .locator('dl')
        .evaluate((list) =>
          Array.from(list.querySelectorAll('dt'), (name) => [
            name.textContent,
            name.nextElementSibling?.textContent,
          ]),
        )
    await item('with_nothing').getByText('None', { exact: true }).waitFor()
    await item('with_text').getByText('Came by the newsletter\nof November').waitFor()
    expect(await fields(item('with_object'))).toEqual([
      ['plan', 'pro'],
      ['seats', '12'],
      ['trial', 'false'],
      ['referrer', 'null'],
      ['a "name"', '"42"'],
      ['empty', '""'],
    ])
    expect(await fields(item('with_nested'))).toEqual([
      ['address', JSON.stringify({ city: 'Praha', lines: ['Na Příkopě 1', { floor: 2 }] }, null, 2)],
    ])
    // Its trailing space is visible only in quotation marks.
    expect(await fields(item('with_long'))).toEqual([
      ['note', JSON.stringify(long)],
      ['short', 'beside it'],
    ])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1440)
  })

  it('is paged if it has many events', async () => {
    const id = await initialize(workspace, 'user-1')
    for (let number = 1; number <= 60; number++) await event(id, `event_${number}`)
    const page = await open(`customers/${id}`)
    await page.getByText('event_60', { exact: true }).waitFor()
    expect(await page.getByText('event_10', { exact: true }).count()).toBe(0)
    await page.getByText('50+', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('event_1', { exact: true }).waitFor()
    expect(await page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').count()).toBe(60)
  })

  it('that does not exist leads to the search', async () => {
    const path = screenPath(workspace, 'customers/cus_00000000000000000000000000')
    const refusals = ['', '/events', '/journeys'].map((of) => `404 GET /v1/customers/{id}${of}`)
    const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals })
    await heading(page, 'Customer not found').waitFor()
    // Leaving the page would cancel the requests that are not refused yet.
    await page.waitForLoadState('networkidle')
    await page.getByRole('link', { name: 'Search all customers' }).click()
    await heading(page, 'Customers').waitFor()
  })
})

describe('A filter in the address', () => {
  it('that cannot be parsed is reported and ignored, on every screen', async () => {
    const { client, journey_id } = workspace
    const steps = ['signed_up', 'paid'].map((event_id) => ({ event_id, name: event_id }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const customer_id = await initialize(workspace, 'user-1')
    await event(customer_id, 'signed_up')
    const tooLong = 'x'.repeat(256)
    const span = { last: '2h', received_from: 'abc', received_to: '2026-02-30T00:00:00Z' }
    const references = { journey_id: tooLong, event_id: tooLong, customer_id: tooLong, key_id: tooLong }
    const entered = { entered_from: '2026-11-20', entered_to: '10000-01-01T00:00:00Z' }
    const report = { ...entered, customer_type: 'person', window: 'P1M' }
    const addresses: [screen: string, title: string, filters: Record<string, string>][] = [
      ['events', 'Events', { ...span, ...references, variable: tooLong, time: 'later', event: tooLong }],
      [
        'events/refused',
        'Rejected requests',
        { ...span, ...references, code: 'Not a code', refusal: tooLong },
      ],
      ['customers', 'Customers', { search: tooLong, type: 'person' }],
      [`customers/${customer_id}`, 'Ada Lovelace', { journey_id: tooLong, event_id: tooLong }],
      ['journeys', 'Journeys', { search: tooLong, status: 'gone' }],
      ['keys', 'Service keys', { search: tooLong, status: 'gone' }],
      ['members', 'Members', { search: tooLong }],
      [
        'audit-log',
        'Audit log',
        { area: 'gone', actor_id: tooLong, from: 'abc', to: '1899-12-31T00:00:00Z' },
      ],
      ['first-event', 'Send your first event', { journey: tooLong }],
      [
        `journeys/${journey_id}`,
        'Onboarding',
        { ...report, by: 'year', measure: 'most', line: '3', to_step: '0' },
      ],
      [
        `journeys/${journey_id}/customers`,
        'Onboarding',
        { ...report, reached: '3', not_reached: 'all', out_of_order: '1.5', standing: 'gone' },
      ],
    ]
    const page = await open('overview')
    for (const [screen, title, filters] of addresses) {
      await page.goto(`${cairn.url}/admin${screenPath(workspace, screen)}?${new URLSearchParams(filters)}`)
      await heading(page, title).waitFor()
      const notice = page.getByRole('alert').filter({ hasText: 'in the address' })
      const named = async () =>
        (await notice.getByRole('listitem').allInnerTexts()).map((text) => text.split(' ')[0]).sort()
      await expect.poll(named, { message: screen }).toEqual(Object.keys(filters).sort())
      await page.waitForLoadState('networkidle')
      expect(await page.getByRole('alert').count(), screen).toBe(1)
      if (screen === 'events') await inspectState(page, 'unread-filters')
      await notice.getByRole('button', { name: 'Remove invalid filters' }).click()
      await notice.waitFor({ state: 'hidden' })
      expect(query(page), screen).toEqual({})
    }
  })

  it('may have an offset, also one whose plus has become a space', async () => {
    await event(await initialize(workspace, 'user-1'), 'signed_up')
    const page = await open('events', auckland)
    const since = new Date(Date.now() - 3_600_000)
    const written = `${new Date(since.getTime() + 3_600_000).toISOString().slice(0, 19)}+01:00`
    for (const received_from of [written, encodeURIComponent(written)]) {
      const asked = page.waitForRequest((request) => {
        const { pathname, searchParams } = new URL(request.url())
        const from = searchParams.get('received_from')
        return pathname === '/v1/events' && from === `${since.toISOString().slice(0, 19)}.000Z`
      })
      await page.goto(`${cairn.url}/admin${screenPath(workspace, 'events')}?received_from=${received_from}`)
      await asked
      await page.getByRole('button', { name: /^since / }).waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    }
  })
})

declare global {
  /** Set by the markup below if it runs. */
  var ran: unknown
}

describe('Markup in a name', () => {
  const markup = (name: string) =>
    `${name} "><script>globalThis.ran=1</script><img src=x onerror="globalThis.ran=2">{{7*7}}\${7*7}`

  it('is shown as text, on every screen', async () => {
    const named = {
      workspace: markup('Workspace'),
      journey: markup('Journey'),
      step: markup('Step'),
      event: markup('event'),
      customer: markup('Customer'),
      person: markup('Person'),
      key: markup('Key'),
    }
    const made = await createWorkspace(cairn.databaseUrl, named)
    workspace = { ...made, client: cairn.client(made.secret_key) }
    const person = await newPerson(cairn, { name: named.person })
    await addMember(cairn, workspace, person, 'owner')
    // Otherwise its name would not be in the menu of workspaces.
    await addMember(cairn, await cairn.workspace(), person, 'viewer')
    owner = { ...person, ...browser(cairn, await signIn(cairn, person)) }
    const administration = owner.client(workspace.workspace_id)
    const { journey_id } = workspace
    const steps = [{ event_id: named.event, name: named.step }]
    await administration.updateJourney({
      path: { journey_id },
      body: { steps, description: markup('Description') },
    })
    await administration.createServiceKey({ body: { kind: 'publishable', name: named.key } })
    const email = `'{{7*7}}\${7*7}&lt'${newEmail()}`
    const invited = await administration.createInvitation({ body: { email, role: 'viewer' } })
    expect(invited.error).toBeUndefined()
    const customer_id = await initialize(workspace, markup('client'), { customer_name: named.customer })
    await event(customer_id, named.event, {
      message_id: '"><img src=x onerror=ran=4>',
      custom_variables: {
        [markup('variable')]: markup('value'),
        nested: { [markup('inner')]: [markup('deep')] },
      },
    })
    await event(customer_id, 'with_text', { custom_variables: markup('text') })

    const screens: [screen: string, texts: string[], prepare?: (page: Page) => Promise<void>][] = [
      ['journeys', [named.workspace, named.journey]],
      [
        'journeys?status=all',
        [`Archive ${named.journey}?`],
        async (page) => {
          await page.getByRole('button', { name: `Actions for ${named.journey}` }).click()
          await page.getByRole('menuitem', { name: 'Archive' }).click()
        },
      ],
      [`journeys/${journey_id}`, [named.journey, named.step]],
      [`journeys/${journey_id}/customers?reached=1`, [named.customer, named.step, markup('client')]],
      [
        'keys',
        [named.key, named.person],
        (page) => page.getByRole('button', { name: /^Key .*details of key/ }).click(),
      ],
      [`first-event?journey=${journey_id}`, [named.customer, markup('text')]],
      [`customers?search=${encodeURIComponent(named.customer)}`, [named.customer, markup('client')]],
      [`customers?search=${encodeURIComponent(markup('No such'))}`, [markup('No such')]],
      [
        `customers/${customer_id}`,
        [named.customer, named.step, named.event, named.journey, markup('variable'), markup('text')],
        async (page) => {
          const lines = page.getByRole('region', { name: 'Timeline' }).locator('li > button')
          await lines.first().waitFor()
          for (const line of await lines.all()) await line.click()
        },
      ],
      [
        'events',
        // Nested values are shown as JSON.
        [named.event, named.journey, markup('variable'), JSON.stringify(markup('inner'))],
        (page) => page.getByRole('button', { name: /^event "/ }).click(),
      ],
      ['members', [named.person, email]],
      [
        'members',
        [`Leave ${named.workspace}?`],
        async (page) => {
          await page.getByRole('button', { name: `Actions for ${named.person}` }).click()
          await page.getByRole('menuitem', { name: 'Leave workspace…' }).click()
        },
      ],
      [
        'audit-log',
        [named.person, named.journey, named.key, email, markup('Description')],
        async (page) => {
          const details = page.getByRole('button', { name: 'Details' })
          await details.first().waitFor()
          for (const button of await details.all()) await button.click()
        },
      ],
      ['account', [named.workspace]],
      ['account', [named.workspace], (page) => page.getByRole('button', { name: /, switch/ }).click()],
    ]
    const page = await open('journeys')
    for (const [screen, texts, prepare] of screens) {
      await page.goto(`${cairn.url}/admin${screenPath(workspace, screen)}`)
      await prepare?.(page)
      for (const text of texts) await page.getByText(text).filter({ visible: true }).first().waitFor()
      expect(await page.locator('#root img[src=x], #root script').count(), screen).toBe(0)
      expect(await page.evaluate(() => globalThis.ran), screen).toBeUndefined()
    }
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${journey_id}/settings`)}`)
    expect(await page.getByLabel('Display name of step 1').inputValue()).toBe(named.step)
    expect(await page.title()).toContain(named.journey)

    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'account')}`)
    await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(named.person)

    const guest = await openAdministration({
      cairn,
      path: `/invitation#token=${invited.data?.token}`,
      refusals: ['401 GET /v1/session'],
    })
    await heading(guest, `Join ${named.workspace}`).waitFor()
    expect(await guest.getByRole('textbox', { name: 'Email' }).inputValue()).toBe(email)
    expect(await guest.evaluate(() => globalThis.ran)).toBeUndefined()
  })
})

describe('erasing a customer', () => {
  it('asks for the name, and then the customer is in no list', async () => {
    const name = 'Grace Hopper'
    // Two spaces are shown as one, and typed so.
    const erased = await initialize(workspace, 'user-erased', { customer_name: 'Grace  Hopper' })
    await initialize(workspace, 'user-kept', { customer_name: 'Ada Lovelace' })
    const page = await open(`customers/${erased}`)
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
    const dialog = page.getByRole('dialog', { name: `Erase ${name}?` })
    const confirm = dialog.getByRole('button', { name: 'Erase customer' })
    await dialog.getByLabel('Type the name').fill('Grace')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Type the name').fill(name)
    await confirm.click()
    await heading(page, 'Customers').waitFor()
    await expect.poll(() => customerNames(page)).toEqual(['Ada Lovelace'])
    const { error } = await workspace.client.getCustomer({ path: { customer_id: erased } })
    expect(error?.code).toBe('customer_not_found')
    const { journey_id } = workspace
    const again = { journey_id, customer_type: 'contact', customer_name: name } as const
    const register = (client_customer_id: string) =>
      workspace.client.initializeCustomer({ body: { ...again, client_customer_id } })
    expect((await register('user-erased')).error?.code).toBe('customer_erased')

    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    await page.getByRole('button', { name: 'Actions for Ada Lovelace' }).click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
    await page.getByRole('checkbox', { name: 'Allow re-registration' }).check()
    await page.getByLabel('Type the name').fill('Ada Lovelace')
    await page.getByRole('button', { name: 'Erase customer' }).click()
    await page.getByRole('heading', { name: 'No customers yet' }).waitFor()
    expect((await register('user-kept')).response.status).toBe(201)
  })

  it('asks about no other customer once the page shows that one', async () => {
    const name = 'Grace Hopper'
    for (const id of ['user-1', 'user-2']) await initialize(workspace, id, { customer_name: name })
    const page = await open('customers')
    const show = async (client_customer_id: string) => {
      await tableRows(page, 'Customers').filter({ hasText: client_customer_id }).getByRole('link').click()
      await heading(page, name).waitFor()
      await page.getByRole('main').getByText(client_customer_id, { exact: true }).waitFor()
    }
    await show('user-1')
    await page.getByRole('link', { name: 'Customers', exact: true }).click()
    await show('user-2')
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
    const dialog = page.getByRole('dialog', { name: `Erase ${name}?` })
    await dialog.getByLabel('Type the name').fill(name)
    // From the list of pages to go back to: the one in between is skipped.
    await page.evaluate(() => history.go(-2))
    await page.getByText('user-1', { exact: true }).waitFor()
    expect(await dialog.count()).toBe(0)
  })
})
