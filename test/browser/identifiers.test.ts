// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { problems } from '../../server/problems.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { newMember, type SignedUp } from '../fixtures/people.ts'
import { hasFocus, hasFocusWithin, openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let customer_id: string

beforeAll(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  customer_id = await initialize(workspace, 'user-1 of the older system, moved here')
  const { journey_id } = workspace
  for (const event_id of ['signed_up', 'plan_chosen']) {
    await workspace.client.createEvent({ body: { journey_id, customer_id, event_id } })
  }
})

function open(screen: string, width: number, refusals: string[] = []): Promise<Page> {
  const path = screenPath(workspace, screen)
  return openAdministration({
    cairn,
    path,
    signedIn: owner.headers,
    viewport: { width, height: 800 },
    refusals,
  })
}

/** What the two gestures select, as it would be pasted. */
async function selections(shown: Locator): Promise<string[]> {
  const page = shown.page()
  await shown.scrollIntoViewIfNeeded()
  const selected = () => page.evaluate(() => getSelection()?.toString() ?? '')
  const box = await shown.boundingBox()
  if (!box) throw new Error('it is not shown')
  const middle = box.y + box.height / 2
  await page.mouse.dblclick(box.x + box.width - 12, middle)
  const doubleClicked = await selected()
  await page.evaluate(() => getSelection()?.removeAllRanges())
  await page.mouse.move(box.x + 2, middle)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2, middle, { steps: 3 })
  await page.mouse.move(box.x + box.width - 2, middle, { steps: 3 })
  await page.mouse.up()
  return [doubleClicked, await selected()]
}

describe('An identifier', () => {
  it.each([360, 1440])('is copied in full, however it is shortened: at %i px', async (width) => {
    const page = await open(`customers/${customer_id}`, width)
    const shown = page.locator('.identifier')
    await shown.first().waitFor()
    const own = shown.filter({ hasText: 'user-1' })
    const ours = shown.filter({ hasText: 'cus_' })
    expect(await selections(ours)).toEqual([customer_id, customer_id])
    expect(await selections(own)).toEqual(Array(2).fill('user-1 of the older system, moved here'))

    await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${workspace.journey_id}/settings`)}`)
    const journey = page.locator('.identifier').filter({ hasText: workspace.journey_id })
    expect(await selections(journey)).toEqual([workspace.journey_id, workspace.journey_id])
    await page.keyboard.press('Control+C')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(workspace.journey_id)
  })

  it('shows its end if there is no space for all of it, and all of it otherwise', async () => {
    const page = await open(`customers/${customer_id}`, 1440)
    const text = page.locator('.identifier').filter({ hasText: 'cus_' }).locator('span')
    const end = () =>
      text.evaluate((element) => Number.parseFloat(getComputedStyle(element, '::after').width))
    await expect.poll(end).toBe(0)
    await page.setViewportSize({ width: 320, height: 800 })
    await expect.poll(end).toBeGreaterThan(40)
  })

  it('of a rejected request is copied in full', async () => {
    const page = await open('members', 360, ['409 DELETE /v1/members/{id}'])
    // Other tests have added members of the same name.
    const own = page.getByRole('row', { name: '(you)' })
    await own.getByRole('button', { name: `Actions for ${owner.name}` }).click()
    await page.getByRole('menuitem', { name: 'Leave workspace…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    const alert = page.getByRole('alert', { name: problems.last_owner.title })
    const request_id = (await alert.locator('.identifier').textContent()) ?? ''
    expect(request_id.length).toBeGreaterThan(20)
    expect(await selections(alert.locator('.identifier'))).toEqual([request_id, request_id])
  })
})

describe('A long list', () => {
  it('is one tab stop, and the arrow keys move in it', async () => {
    const page = await open('events', 1440)
    const event = page.getByRole('table').getByRole('button').first()
    await event.focus()
    await page.keyboard.press('Tab')
    const isInList = () => hasFocusWithin(page.getByRole('table'))
    expect(await isInList()).toBe(false)
    await page.keyboard.press('Shift+Tab')
    expect(await hasFocus(event)).toBe(true)
    await page.keyboard.press('ArrowDown')
    const other = page.getByRole('table').getByRole('button').last()
    expect(await hasFocus(other)).toBe(true)
    await page.keyboard.press('Shift+Tab')
    expect(await isInList()).toBe(false)
    await page.keyboard.press('Tab')
    expect(await hasFocus(other)).toBe(true)
  })

  it('also with controls inside, which keep their own keys', async () => {
    for (const role of ['viewer', 'admin'] as const) await newMember(cairn, workspace, role)
    const page = await open('members', 1440)
    const table = page.getByRole('table', { name: 'Members' })
    const roles = table.getByRole('combobox')
    const menus = table.getByRole('button', { name: 'Actions for' })
    await roles.nth(0).focus()
    // Via the time, which shows its whole date.
    for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
    expect(await hasFocus(menus.nth(0))).toBe(true)
    await page.keyboard.press('ArrowDown')
    expect(await hasFocus(menus.nth(1))).toBe(true)
    for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
    expect(await hasFocus(roles.nth(1))).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.getByRole('option', { name: 'Viewer' }).waitFor()
    expect(await hasFocus(roles.nth(1))).toBe(true)
    await page.keyboard.press('Escape')
    await page.getByRole('option', { name: 'Viewer' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('Tab')
    expect(await hasFocusWithin(table)).toBe(false)
  })
})
