import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, startCairn, type Workspace } from '../cairn.ts'
import { type SignedUp, signUp } from '../people.ts'
import { inspectState, openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

beforeEach(async () => {
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

function open(screen: string): Promise<Page> {
  const path = screenPath(workspace, screen)
  return openAdministration({ cairn, signedIn: owner.headers, path })
}

/** Registers a customer. @returns its `customer_id` */
async function customer(customer_name: string, client_customer_id: string): Promise<string> {
  const { client, journey_id } = workspace
  const body = { journey_id, customer_name, client_customer_id, customer_type: 'contact' } as const
  const { data } = await client.initializeCustomer({ body })
  return data?.customer_id ?? ''
}

/** Sends an event. @returns its id */
async function event(customer_id: string, event_id: string, more: Partial<Schemas['EventCreation']> = {}) {
  const { client, journey_id } = workspace
  const { data } = await client.createEvent({ body: { journey_id, customer_id, event_id, ...more } })
  return data?.id ?? ''
}

/** The cells of the events, behind the time. */
async function lines(page: Page): Promise<string[][]> {
  const rows = page.getByRole('table', { name: 'Events' }).locator('tbody tr')
  return rows.evaluateAll((rows) =>
    rows.map((row) =>
      Array.from(row.querySelectorAll('td'), (cell) => cell.innerText.split('\n')[0] ?? '').slice(1),
    ),
  )
}

const names = async (page: Page) => (await lines(page)).map(([name]) => name)

function query(page: Page): Record<string, string> {
  return Object.fromEntries(new URL(page.url()).searchParams)
}

describe('Events', () => {
  it('stand in one line each, are narrowed by chips in the address, and open beside the list at one of their own', async () => {
    const { client, journey_id } = workspace
    const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const [ada, grace] = [await customer('Ada Lovelace', 'user-1'), await customer('Grace Hopper', 'user-2')]
    const occurred_at = new Date(Date.now() - 90_000).toISOString()
    const first = await event(ada, 'signed_up', { occurred_at, custom_variables: { plan: 'pro', seats: 12 } })
    await event(grace, 'signed_up', { custom_variables: { plan: 'team', address: { city: 'Praha' } } })
    await event(grace, 'renewed')
    const page = await open('events')
    await expect
      .poll(() => lines(page))
      .toEqual([
        ['renewed', 'Grace Hopper user-2', 'Onboarding', ''],
        ['Signed up', 'Grace Hopper user-2', 'Onboarding', 'plan team · address {"city":"Praha"}'],
        ['Signed up', 'Ada Lovelace user-1', 'Onboarding', 'plan pro · seats 12'],
      ])
    await page.getByText('3 accepted', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('searchbox', { name: 'event_id' }).fill('signed_up')
    await expect.poll(() => names(page)).toEqual(['Signed up', 'Signed up'])
    await page.getByRole('combobox', { name: 'Customer' }).fill('user-1')
    await page.getByRole('option', { name: 'Ada Lovelace (contact user-1)' }).click()
    await expect.poll(() => names(page)).toEqual(['Signed up'])
    expect(query(page)).toEqual({ event_id: 'signed_up', customer_id: ada })
    await page.keyboard.press('Escape')
    await page.reload()
    await page.getByRole('button', { name: /^event signed_up/ }).click()
    await page.getByRole('button', { name: /^customer Ada Lovelace \(contact user-1\)/ }).click()
    await expect.poll(() => names(page)).toHaveLength(3)
    expect(query(page)).toEqual({})

    await page.getByRole('button', { name: /^renewed of/ }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('at once').waitFor()
    await page.keyboard.press('j')
    await drawer.getByText('"Praha"').waitFor()
    await page.keyboard.press('ArrowDown')
    await drawer.getByText('before it was received').waitFor()
    expect(query(page)).toEqual({ event: first })
    await inspectState(page, 'event-drawer')
    // Whatever the list has: what is handed on is what opens.
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `events?event_id=renewed&event=${first}`)}`)
    await drawer.getByText('"pro"').waitFor()
    await page.goBack()
    await drawer.getByRole('button', { name: 'Only plan as here' }).click()
    await page.getByText('1 of the 3 events that are shown have').waitFor()
    await expect.poll(() => names(page)).toEqual(['Signed up'])
    expect(query(page)).toEqual({ variable: 'plan=pro' })
  })

  it('come by themselves, wait where somebody reads or has paused, and are a sample where they are too many', async () => {
    const id = await customer('Ada Lovelace', 'user-1')
    const page = await open('events')
    await page.getByRole('heading', { name: 'No events yet' }).waitFor()
    await event(id, 'first')
    await expect.poll(() => names(page)).toEqual(['first'])
    await page.getByRole('button', { name: /^Live/ }).click()
    await event(id, 'second')
    await page.getByRole('button', { name: 'Paused, 1 wait' }).waitFor()
    expect(await names(page)).toEqual(['first'])
    await page.getByRole('button', { name: 'Paused, 1 wait' }).click()
    await expect.poll(() => names(page)).toEqual(['second', 'first'])

    await page.getByRole('button', { name: /^first of/ }).press('Enter')
    await page.getByRole('dialog').getByText('none were sent').waitFor()
    await event(id, 'third')
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await names(page)).includes('third') || (await waiting(page))).toBe(true)
    expect(await page.getByText('More arrives than can be shown').count()).toBe(0)

    const { client, journey_id } = workspace
    const events = Array.from({ length: 1000 }, () => ({ journey_id, customer_id: id, event_id: 'burst' }))
    await client.createEvents({ body: { events } })
    await page.getByText('More arrives than can be shown').waitFor()
    await page.getByText('1,003 events stored and 0 refused since').waitFor()
  })
})

function waiting(page: Page): Promise<boolean> {
  return page.getByRole('button', { name: 'Show 1 new event' }).isVisible()
}
