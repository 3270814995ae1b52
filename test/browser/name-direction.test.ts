// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/person.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { countDrawn, openAdministration } from './administration.ts'
import { day } from './reported-journey.ts'
import { screenPath } from './screens.ts'

/**
 * An end that turns what follows: neither the override nor the isolate is closed, and an isolate around the name is closed
 * instead of the second.
 */
const turn = '\u202e\u2067'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
const paths = new Map<string, string>()

/** Everything that can be given a name has one that begins with Z. */
beforeAll(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  const { client, journey_id } = workspace
  const api = owner.client(workspace.workspace_id)
  await api.changeName({ body: { name: `Zperson${turn}` } })
  const member = await signUp(cairn, workspace, 'viewer')
  await member.client().changeName({ body: { name: `Zmember${turn}` } })
  await api.updateWorkspace({ body: { name: `Zworkspace${turn}`, view_links: 'on' } })
  const steps = ['one', 'two', 'three'].map((n) => ({
    event_id: `Zevent${n}${turn}`,
    name: `Zstep${n}${turn}`,
  }))
  await api.updateJourney({ path: { journey_id }, body: { name: `Zjourney${turn}`, steps } })
  await api.createServiceKey({ body: { kind: 'secret', name: `Zkey${turn}` } })
  const [event_id = '', second = ''] = steps.map((step) => step.event_id)
  const plan = `Zplan${turn}`
  let customer_id = ''
  for (const n of ['a', 'b']) {
    customer_id = await initialize(workspace, `Zclient${n}${turn}`, {
      customer_name: `Zcustomer${n}${turn}`,
    })
    const custom_variables = { [plan]: `Zvalue${n}${turn}`, seats: 5 }
    for (const event_id of [steps[0], ...(n === 'b' ? [steps[1]] : [])].map((step) => step?.event_id ?? '')) {
      await client.createEvent({ body: { journey_id, customer_id, event_id, custom_variables } })
    }
  }
  const field = {
    type: 'string',
    enum: [`Zenum${turn}`, 'free'],
    title: `Ztitle${turn}`,
    description: 'A plan',
  }
  const variables = {
    type: 'object',
    properties: { [plan]: field },
    required: [plan],
  } as Schemas['DefinedValue']
  const { data: defined } = await api.defineEvent({ body: { event_id, variables } })
  await client.createEvent({
    body: { journey_id, customer_id, event_id: second, custom_variables: { [plan]: 1 } },
  })
  const breakdown = `variable:${plan}`
  const query: Schemas['ViewQuery'] = {
    variables: [`${plan}:Zvalueb${turn}`],
    breakdown,
    chart: 'step_times',
    step: 2,
  }
  const view = { name: `Zview${turn}`, journey_id, query, visibility: 'workspace' } as const
  const { data: saved } = await api.createView({ body: view })
  const { data: link } = await api.createViewLink({
    path: { view_id: saved?.view_id ?? '' },
    body: { valid_days: 7 },
  })
  const report = `journeys/${journey_id}`
  const filter = new URLSearchParams({ breakdown })
  for (const [name, screen] of [
    ['overview', 'overview'],
    ['journeys', 'journeys'],
    ['report', `${report}?line=2`],
    ['breakdown', `${report}?${filter}&to_step=2`],
    ['times of nobody', `${report}?to_step=3`],
    ['customers of a journey', `${report}/customers?reached=1&not_reached=3`],
    ['settings', `${report}/settings`],
    ['keys', 'keys'],
    ['first event', `first-event?journey=${journey_id}`],
    ['customers', 'customers'],
    ['customer', `customers/${customer_id}`],
    ['events', `events?customer_id=${customer_id}`],
    ['definitions', 'events/definitions'],
    ['definition', `events/definitions/${defined?.definition.definition_id}`],
    ['members', 'members'],
    ['audit log', 'audit-log'],
  ] as const) {
    paths.set(name, screenPath(workspace, screen))
  }
  paths.set('shared view', `/shared#token=${link?.token}`)
})

async function open(name: string): Promise<Page> {
  const path = paths.get(name)
  if (!path) throw new Error(`there is no screen ${name}`)
  return await openAdministration({ cairn, signedIn: owner.headers, path })
}

/**
 * Returns the blocks of the page in which two characters beside names are drawn in another order than they are read, and titles
 * with a control of direction outside of an isolate. Names are left out: their own order is theirs.
 */
function reordered(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    /** The element that draws a text, with others, in lines. */
    const blockOf = (node: Node) => {
      let element = node.parentElement
      while (element && element.tagName !== 'text' && getComputedStyle(element).display === 'inline') {
        element = element.parentElement
      }
      return element
    }
    const blocks = new Map<Element, Text[]>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const block = blockOf(node)
      if (block) blocks.set(block, [...(blocks.get(block) ?? []), node as Text])
    }
    const found = new Set<string>()
    for (const [block, texts] of blocks) {
      const whole = texts.map(({ data }) => data).join('')
      // Also the controls of direction, which are not drawn.
      const beside = whole.replaceAll(/Z[a-z]+|\p{Bidi_Control}/gu, (name) => ' '.repeat(name.length))
      if (beside === whole) continue
      let offset = 0
      let before: DOMRect | undefined
      for (const text of texts) {
        for (let at = 0; at < text.length; at++, offset++) {
          if (beside[offset]?.trim() === '') continue
          const range = document.createRange()
          range.setStart(text, at)
          range.setEnd(text, at + 1)
          const drawn = range.getBoundingClientRect()
          if (drawn.width === 0) continue
          const isSameLine = before && Math.abs(before.top - drawn.top) < 4
          if (isSameLine && before && drawn.left < before.left) found.add(`<${block.tagName}> ${whole}`)
          before = drawn
        }
      }
    }
    const titles = [...document.querySelectorAll('[title]')].map(
      (element) => element.getAttribute('title') ?? '',
    )
    for (const title of [
      document.title,
      ...titles.filter((title) => /Z[a-z]+\p{Bidi_Control}+[^\p{Bidi_Control}]/u.test(title)),
    ]) {
      const outside = title.replaceAll(/\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069/g, '')
      if (/[\u202a-\u202e\u2066-\u2069]/.test(outside)) found.add(`title ${title}`)
    }
    return [...found]
  })
}

/** Reads the page once everything in it is there. */
async function expectInOrder(page: Page, shown: string | RegExp) {
  await page.getByText(shown).filter({ visible: true }).first().waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
  expect(await reordered(page)).toEqual([])
}

describe('A name that turns the direction of what follows turns nothing outside of itself', () => {
  it.for([
    ['overview', / · all time · /],
    ['journeys', 'Zjourney'],
    ['report', /^Time from “/],
    ['breakdown', /^Time from “.* by /],
    ['times of nobody', /^No customer has moved/],
    ['customers of a journey', /^Customers who reached/],
    ['settings', 'Step 3'],
    ['keys', 'Zkey'],
    ['first event', 'View report of'],
    ['customers', 'Zclient'],
    ['customer', 'Zevent'],
    ['events', /\(contact /],
    ['definitions', 'Zevent'],
    ['definition', / must be /],
    ['members', 'Zperson'],
    ['audit log', /saved the view/],
    ['shared view', /^Time from “.* by /],
  ] as const)('on the screen %s', async ([screen, shown]) => {
    await expectInOrder(await open(screen), shown)
  })

  it.for([
    { screen: 'keys', button: /^Workspace /, item: 'Archive workspace…', title: /^Archive .*Zworkspace/ },
    { screen: 'journeys', button: /^Actions for .*Zjourney/, item: 'Archive', title: /^Archive .*Zjourney/ },
    { screen: 'settings', button: /^Archive .*Zjourney/, title: /^Archive .*Zjourney/ },
    { screen: 'keys', button: /^Actions for .*Zkey/, item: 'Rotate', title: /^Rotate .*Zkey/ },
    { screen: 'keys', button: /^Actions for .*Zkey/, item: 'Revoke', title: /^Revoke .*Zkey/ },
    { screen: 'keys', button: /^Actions for .*Zkey/, item: 'Edit', title: /^Edit .*Zkey/ },
    { screen: 'customer', button: /^Actions for .*Zcustomer/, item: 'Erase…', title: /^Erase .*Zcustomer/ },
    {
      screen: 'members',
      button: /^Actions for .*Zmember/,
      item: 'Remove from workspace…',
      title: /^Remove .*Zmember/,
    },
    {
      screen: 'members',
      button: /^Actions for .*Zperson/,
      item: 'Leave workspace…',
      title: /^Leave .*Zworkspace/,
    },
    {
      screen: 'members',
      button: /^Actions for .*Zmember/,
      item: 'Create password reset link…',
      title: /^Reset password of .*Zmember/,
    },
    {
      screen: 'definition',
      button: /^Actions for .*Zevent/,
      item: 'Remove definition…',
      title: /^Remove the definition of .*Zevent/,
    },
    { screen: 'events', button: /^Zeventtwo/, title: /Zsteptwo/ },
  ])('in the dialog $title on the screen $screen', async ({ screen, button, item, title }) => {
    const page = await open(screen)
    await page.getByRole('button', { name: button }).first().click()
    if (item) await page.getByRole('menuitem', { name: item }).click()
    await page.getByRole('dialog').getByText(title).first().waitFor()
    await expectInOrder(page, title)
  })

  it('in a notice', async () => {
    const api = owner.client(workspace.workspace_id)
    await api.createJourney({ body: { name: `Zother${turn}` } })
    const page = await open('journeys')
    await page.getByRole('button', { name: /^Actions for .*Zother/ }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive journey' }).click()
    await expectInOrder(page, / archived\.$/)
  })
})

it('A name from right to left ends at its left in the legend, under the pointer and in the table of a chart', async () => {
  const own = await cairn.workspace()
  const { client, journey_id } = own
  const { headers } = await signUp(cairn, own, 'owner')
  const steps = ['one', 'two'].map((event_id) => ({ event_id, name: `\u05d0\u05d1 ${event_id}!` }))
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  for (const ago of [0, 10]) {
    const customer_id = await initialize(own, `user-${ago}`)
    const occurred_at = new Date(Date.now() - ago * day).toISOString()
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'one', occurred_at } })
  }
  const path = screenPath(own, `journeys/${journey_id}?by=week`)
  const page = await openAdministration({ cairn, signedIn: headers, path })
  const region = page.getByRole('region', { name: 'Conversion over time' })
  const ends = (names: Locator) =>
    names.evaluateAll((names) =>
      names.map((name) => {
        const text = document.createTreeWalker(name, NodeFilter.SHOW_TEXT).nextNode() as Text
        const leftOf = (character: string) => {
          const range = document.createRange()
          range.setStart(text, text.data.indexOf(character))
          range.setEnd(text, text.data.indexOf(character) + 1)
          return range.getBoundingClientRect().left
        }
        return leftOf('!') < leftOf('\u05d0') ? 'left' : 'right'
      }),
    )
  const chart = region.locator('.recharts-wrapper')
  await expect.poll(countDrawn(region, chart)).toBe(1)
  expect(await ends(region.getByRole('listitem').locator('span'))).toEqual(['left', 'left'])
  // The chart may move until everything above it has loaded.
  const underPointer = async () => {
    const { width = 0, height = 0 } = (await chart.boundingBox()) ?? {}
    await page.mouse.move(0, 0)
    // A customer entered in the last week.
    await chart.hover({ position: { x: width * 0.95, y: height / 2 } })
    return await ends(region.locator('.mantine-ChartTooltip-tooltipItemName'))
  }
  await expect.poll(underPointer).toEqual(['left', 'left'])
  await region.getByRole('button', { name: 'Show as table' }).click()
  expect(await ends(region.getByRole('columnheader', { name: '\u05d0' }))).toEqual(['left', 'left'])
})

it('A name with a control of direction can be typed to confirm a removal', async () => {
  const page = await open('customer')
  await page.getByRole('button', { name: /^Actions for .*Zcustomer/ }).click()
  await page.getByRole('menuitem', { name: 'Erase…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: /^Type the name to confirm/ }).fill('Zcustomerb')
  await expect.poll(() => dialog.getByRole('button', { name: 'Erase customer' }).isEnabled()).toBe(true)
})
