// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { problems } from '../../server/problems.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { hasFocus, holdRequests, inspectState, openAdministration, tabTo } from './administration.ts'
import { comeBackTo, heading, screenPath, tableRows } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let api: PersonClient

beforeEach(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  api = owner.client(workspace.workspace_id)
})

function open(screen: string, person = owner, refusals: string[] = []): Promise<Page> {
  const path = screenPath(workspace, screen)
  return openAdministration({ cairn, signedIn: person.headers, path, refusals })
}

/** Sends events, each with its variables. */
async function send(event_id: string, ...variables: Record<string, unknown>[]) {
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  for (const custom_variables of variables) {
    await client.createEvent({ body: { journey_id, customer_id, event_id, custom_variables } })
  }
}

async function stored(): Promise<Schemas['EventDefinition'][]> {
  return (await api.listEventDefinitions()).data?.data ?? []
}

/** The rows of a table, as the texts of their cells. */
function rows(page: Page, name: string): Promise<string[][]> {
  const found = tableRows(page, name)
  return found.evaluateAll((rows) =>
    rows.map((row) => Array.from(row.querySelectorAll('td'), (cell) => cell.innerText.replaceAll('\n', ' '))),
  )
}

/** Fills in the last field of the form. */
async function fillField(page: Page, name: string, type: string) {
  await page.getByRole('textbox', { name: 'Field', exact: true }).last().fill(name)
  await page.getByRole('combobox', { name: `Type of ${name}` }).selectOption(type)
}

describe('The list of event names', () => {
  it('breaks no name within a word beside the navigation', async () => {
    await send('plan_chosen', {})
    const page = await open('events/definitions')
    await page.setViewportSize({ width: 992, height: 800 })
    const name = tableRows(page, 'Event names').getByText('plan_chosen', { exact: true })
    expect(await name.evaluate((name) => name.getBoundingClientRect().height)).toBeLessThan(30)
  })
})

describe('A definition', () => {
  it('is made from a received name, changed after its effects are confirmed, and removed', async () => {
    await send('plan_chosen', { plan: 'team', seats: 3 }, { plan: 'free' })
    const page = await open('events/definitions')
    await expect
      .poll(() => rows(page, 'Event names'))
      .toMatchObject([['plan_chosen', '2', '', expect.any(String), 'Not defined', 'Define']])
    await page.getByRole('link', { name: 'Define plan_chosen' }).click()
    expect(await page.getByRole('textbox', { name: 'event_id' }).inputValue()).toBe('plan_chosen')
    await page.getByRole('textbox', { name: 'Description' }).fill('A customer chose a plan')
    await page.getByRole('button', { name: 'Add field' }).click()
    const added = page.getByRole('textbox', { name: 'Field', exact: true })
    await expect.poll(() => hasFocus(added)).toBe(true)
    await fillField(page, 'plan', 'String')
    await page.getByRole('checkbox', { name: 'Required: plan' }).check()
    await page.getByRole('button', { name: 'Details of plan' }).click()
    const allowed = page.getByRole('combobox', { name: 'Allowed values' })
    for (const value of ['free', 'team']) {
      await allowed.fill(value)
      await allowed.press('Enter')
    }
    await page.getByRole('button', { name: 'Add field' }).click()
    await fillField(page, 'seats', 'Integer')
    await page.getByRole('button', { name: 'Details of seats' }).click()
    await page.getByRole('textbox', { name: 'Minimum' }).last().fill('1')
    await page.getByRole('button', { name: 'Add field' }).click()
    await fillField(page, 'address', 'Object')
    await page.getByRole('button', { name: 'Add field to address' }).click()
    const nested = page.getByRole('list', { name: 'Fields of address' })
    await nested.getByRole('textbox', { name: 'Field' }).fill('city')
    await page.getByRole('button', { name: 'Review and save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Define event' }).click()

    await heading(page, 'plan_chosen').waitFor()
    const variables = {
      type: 'object',
      properties: {
        plan: { type: 'string', enum: ['free', 'team'] },
        seats: { type: 'integer', minimum: 1 },
        address: { type: 'object', properties: { city: { type: 'string' } } },
      },
      required: ['plan'],
    }
    const described = { event_id: 'plan_chosen', description: 'A customer chose a plan', mode: 'warn' }
    expect(await stored()).toMatchObject([{ ...described, revision: 1, variables }])
    await expect
      .poll(() => rows(page, 'Fields'))
      .toEqual([
        ['plan Required', 'String', 'one of "free", "team"', '', 'in 2 of 2 events, String: "free", "team"'],
        ['seats', 'Integer', 'at least 1', '', 'in 1 of 2 events, Integer: 3'],
        ['address', 'Object', '', '', 'not observed'],
        ['city', 'String', '', '', 'not observed'],
      ])
    await page.getByText('All of the latest 2 events conform.').waitFor()

    await page.getByRole('button', { name: 'Edit definition' }).click()
    await page.getByRole('checkbox', { name: 'Required: seats' }).check()
    await page.getByRole('radio', { name: 'Enforce' }).check()
    await page.getByRole('button', { name: 'Review and save' }).click()
    await dialog.getByText('The mode becomes Enforce.').waitFor()
    await dialog.getByText('For senders: breaking. For readers: additive.').waitFor()
    await dialog.getByText('seats is now required').waitFor()
    await dialog.getByText('Of the latest 2 events, 1 does not conform').waitFor()
    await dialog.getByText(/^1 event from First secret key/).waitFor()
    await dialog.getByText('seats is missing; expected integer (1 event)').waitFor()
    await dialog.getByText('From now on, such events are rejected.').waitFor()
    // It would lie on the dialog.
    await page.getByText('Event defined.').waitFor({ state: 'hidden' })
    await inspectState(page, 'breaking-definition')
    const save = dialog.getByRole('button', { name: 'Save' })
    expect(await save.isDisabled()).toBe(true)
    await dialog.getByRole('checkbox', { name: /^I understand/ }).check()
    const until = dialog.getByRole('textbox', { name: /^Accept events that conform to revision 1 until/ })
    await until.fill('yesterday')
    await save.click()
    await dialog.getByText('Enter a time in the future').waitFor()
    await until.fill('31 Dec 2099, 12:00')
    await save.click()
    await page.getByText('Revision 2', { exact: true }).waitFor()
    const [changed] = await stored()
    expect(changed).toMatchObject({
      revision: 2,
      mode: 'enforce',
      variables: { required: ['plan', 'seats'] },
    })
    expect(changed?.previous_accepted_until).toMatch(/^2099-12-31/)
    await page.getByText('Events that conform to revision 1 are accepted until').waitFor()

    const here = new URL(page.url()).pathname
    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'audit-log?area=event_definitions')}`)
    await page.getByRole('link', { name: 'plan_chosen' }).first().click()
    await heading(page, 'plan_chosen').waitFor()
    expect(new URL(page.url()).pathname).toBe(here)
    await page.getByRole('button', { name: 'Actions for plan_chosen' }).click()
    await page.getByRole('menuitem', { name: 'Remove definition…' }).click()
    await dialog.getByRole('button', { name: 'Remove definition' }).click()
    await heading(page, 'Event definitions').waitFor()
    await expect.poll(async () => (await rows(page, 'Event names'))[0]?.[4]).toBe('Not defined')
    expect(await stored()).toEqual([])
  })

  it('is not saved again while its page loads', async () => {
    const page = await open('events/definitions/new?event_id=plan_chosen')
    await page.getByRole('button', { name: 'Review and save' }).click()
    const release = await holdRequests(page, /\/admin\/assets\/definition-(?!form)/)
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Define event' })
    await confirm.click()
    await page.getByText('Event defined.').waitFor()
    expect(await confirm.isDisabled()).toBe(true)
    release()
    await heading(page, 'plan_chosen').waitFor()
  })

  it('is saved only as it was reviewed', async () => {
    const { data } = await api.defineEvent({
      body: { event_id: 'plan_chosen', variables: { type: 'object' } },
    })
    const page = await open(`events/definitions/${data?.definition.definition_id}`)
    await page.getByRole('button', { name: 'Edit definition' }).click()
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('A customer chose a plan')
    const review = page.getByRole('button', { name: 'Review and save' })
    const release = await holdRequests(page, '**/v1/event-definitions/**')
    const reviewed = page.waitForResponse((response) => response.url().includes('dry_run'))
    await review.click()
    await description.fill('A customer chose another plan')
    // It can be reviewed again at once.
    await expect.poll(() => review.isEnabled()).toBe(true)
    release()
    await (await reviewed).finished()
    await review.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Definition saved.').waitFor()
    expect(await stored()).toMatchObject([{ description: 'A customer chose another plan' }])
  })

  it('that is removed meanwhile is reported, and what is being typed stays', async () => {
    const { data } = await api.defineEvent({
      body: { event_id: 'plan_chosen', variables: { type: 'object' } },
    })
    const definition_id = data?.definition.definition_id ?? ''
    const refusals = ['404 GET /v1/event-definitions/{id}']
    const page = await open(`events/definitions/${definition_id}`, owner, refusals)
    await page.getByRole('button', { name: 'Edit definition' }).click()
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('Not saved yet')
    await api.removeEventDefinition({ path: { definition_id } })
    await comeBackTo(page)
    await page.getByRole('alert', { name: problems.definition_not_found.title }).waitFor()
    expect(await description.inputValue()).toBe('Not saved yet')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Definition not found' }).waitFor()
    expect(await heading(page, 'plan_chosen').count()).toBe(0)
  })

  it('can be suggested by what was received', async () => {
    await send('plan_chosen', ...Array.from({ length: 49 }, () => ({ plan: 'team' })))
    const page = await open('events/definitions/new')
    await page.getByRole('textbox', { name: 'event_id' }).fill('plan_chosen')
    await page.getByText('once 50 events with this name are stored. There are 49.').waitFor()
    await send('plan_chosen', { plan: 'free', seats: 3 })
    await page.reload()
    await page.getByRole('textbox', { name: 'event_id' }).fill('plan_chosen')
    await page.getByRole('button', { name: 'Suggest a definition' }).click()
    await page.getByRole('button', { name: 'Review and save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('All of the latest 50 events conform.').waitFor()
    await dialog.getByRole('button', { name: 'Define event' }).click()
    await heading(page, 'plan_chosen').waitFor()
    const properties = { plan: { type: 'string' }, seats: { type: 'integer' } }
    expect(await stored()).toMatchObject([{ variables: { properties, required: ['plan'] } }])
  })

  it('is suggested after another try if the first failed, which is said', async () => {
    await send('plan_chosen', ...Array.from({ length: 50 }, () => ({ plan: 'team' })))
    const page = await open('events/definitions/new', owner, ['500 GET /v1/event-definitions/observed'])
    let isBroken = true
    await page.route('**/v1/event-definitions/observed*', (route) =>
      isBroken ? route.fulfill({ status: 500, body: '' }) : route.continue(),
    )
    await page.getByRole('textbox', { name: 'event_id' }).fill('plan_chosen')
    await page.getByText('The response did not come from Cairn').waitFor()
    isBroken = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Suggest a definition' }).waitFor()
  })

  it('stays JSON if fields cannot express it, and can be edited so', async () => {
    const variables: Schemas['DefinedValue'] = {
      type: 'object',
      properties: { plan: { type: ['string', 'null'] } },
    }
    const { data } = await api.defineEvent({ body: { event_id: 'plan_chosen', variables } })
    const page = await open(`events/definitions/${data?.definition.definition_id}`)
    await expect.poll(() => rows(page, 'Fields')).toMatchObject([['plan', 'String or null', '', '']])
    await page.getByRole('button', { name: 'Edit definition' }).click()
    const json = page.getByRole('textbox', { name: 'custom_variables as JSON Schema' })
    expect(JSON.parse(await json.inputValue())).toEqual(variables)
    await page.getByText('The form cannot show everything').waitFor()
    const asJson = page.getByRole('switch', { name: 'Edit as JSON' })
    await asJson.press('Space')
    await page.getByText('so it stays JSON').waitFor()
    await json.fill('{"type":')
    await asJson.press('Space')
    await page.getByText('This is not JSON').waitFor()

    await json.fill('{ "type": "object", "properties": { "plan": { "type": "string" } } }')
    await asJson.press('Space')
    expect(await page.getByRole('textbox', { name: 'Field', exact: true }).inputValue()).toBe('plan')
    await asJson.press('Space')
    expect(JSON.parse(await json.inputValue())).toEqual({
      type: 'object',
      properties: { plan: { type: 'string' } },
    })
    await page.getByRole('link', { name: 'All definitions' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave without saving' }).click()
    await heading(page, 'Event definitions').waitFor()
    expect(await stored()).toMatchObject([{ revision: 1, variables }])
  })

  it('is shown with the places of its faults if the server rejects it', async () => {
    const refusals = ['409 POST /v1/event-definitions']
    const page = await open('events/definitions/new?event_id=plan_chosen', owner, refusals)
    await page.getByRole('switch', { name: 'Edit as JSON' }).press('Space')
    const json = page.getByRole('textbox', { name: 'custom_variables as JSON Schema' })
    await json.fill('{ "type": "object", "required": ["plan"] }')
    await page.getByRole('button', { name: 'Review and save' }).click()
    await page.getByText('variables › required › 0 must be one of the properties').waitFor()
    await inspectState(page, 'rejected-definition')
  })

  it('is shown with the fields of its faults as they are named', async () => {
    const refusals = ['409 POST /v1/event-definitions']
    const page = await open('events/definitions/new?event_id=plan_chosen', owner, refusals)
    await page.getByRole('switch', { name: 'Edit as JSON' }).press('Space')
    const json = page.getByRole('textbox', { name: 'custom_variables as JSON Schema' })
    const properties = { 'price/month~net': { type: 'integer', minimum: 5, maximum: 1 } }
    await json.fill(JSON.stringify({ type: 'object', properties }))
    await page.getByRole('button', { name: 'Review and save' }).click()
    await page.getByText('variables › properties › price/month~net › minimum must not be greater').waitFor()
  })

  it('has each fact about a field on a line of its own in a narrow window', async () => {
    const plan = { type: 'string', description: 'Where the customer came from' } as const
    await api.defineEvent({
      body: { event_id: 'signed_up', variables: { type: 'object', properties: { plan } } },
    })
    await send('signed_up', { plan: 'team' })
    const page = await open('events/definitions')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('link', { name: 'signed_up', exact: true }).click()
    const field = tableRows(page, 'Fields').getByRole('cell').first()
    await expect
      .poll(async () => (await field.innerText()).split(/\n+/))
      .toEqual(['plan', 'String', 'Where the customer came from', 'in 1 of 1 events, String: "team"'])
  })

  it('says until when the previous revision is accepted, until then', async () => {
    const { data } = await api.defineEvent({ body: { event_id: 'plan_chosen' } })
    const { definition_id = '' } = data?.definition ?? {}
    const previous_accepted_until = new Date(Date.now() + 3_600_000).toISOString()
    const body = { description: 'A plan is chosen.', mode: 'enforce', previous_accepted_until } as const
    await api.updateEventDefinition({ path: { definition_id }, body })
    const path = screenPath(workspace, `events/definitions/${definition_id}`)
    const page = await openAdministration({ cairn, signedIn: owner.headers, path, turnsClock: true })
    await page.getByText('Events that conform to revision 1 are accepted until').waitFor()
    await page.getByRole('button', { name: 'End now…' }).waitFor()
    await page.route('**/v1/**', () => {})
    await page.clock.fastForward(2 * 3_600_000)
    await page.getByRole('button', { name: 'End now…' }).waitFor({ state: 'hidden' })
    expect(await page.getByText('are accepted until').count()).toBe(0)
  })

  it('closes its question about a revision once somebody else has saved another', async () => {
    const { data } = await api.defineEvent({ body: { event_id: 'plan_chosen' } })
    const { definition_id = '' } = data?.definition ?? {}
    const previous_accepted_until = new Date(Date.now() + 3_600_000).toISOString()
    const revise = (description: string) =>
      api.updateEventDefinition({ path: { definition_id }, body: { description, previous_accepted_until } })
    await revise('A plan is chosen.')
    const page = await open(`events/definitions/${definition_id}`)
    await page.getByRole('button', { name: 'End now…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Stop accepting revision 1?').waitFor()
    await revise('A plan is chosen or changed.')
    await comeBackTo(page)
    await page.getByText('Events that conform to revision 2 are accepted until').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    expect((await stored())[0]?.previous_accepted_until).toBe(previous_accepted_until)
  })

  it('can be read by a viewer, who is offered no change', async () => {
    const { data } = await api.defineEvent({ body: { event_id: 'plan_chosen' } })
    await send('signed_up', {})
    const viewer = await signUp(cairn, workspace, 'viewer')
    const page = await open('events/definitions', viewer)
    await expect
      .poll(() => rows(page, 'Event names'))
      .toMatchObject([
        ['signed_up', '1', '', expect.any(String), 'Not defined'],
        ['plan_chosen', '0', '', 'Not in 7 days', 'Warn revision 1'],
      ])
    expect(await page.getByRole('link', { name: /^Define/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'plan_chosen' }).click()
    await page.getByText('Revision 1', { exact: true }).waitFor()
    for (const name of ['Edit definition', /^Actions for/]) {
      expect(await page.getByRole('main').getByRole('button', { name }).count()).toBe(0)
    }
    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'events/definitions/new')}`)
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
    await page.goto(
      `${cairn.url}/admin${screenPath(workspace, `events/definitions/${data?.definition.definition_id}`)}`,
    )
    await page.getByText('Revision 1', { exact: true }).waitFor()
  })
})

describe('Events that do not conform', () => {
  it('are counted in the catalogue and on the page of the definition, and marked where events are listed', async () => {
    const variables = { type: 'object', properties: { seats: { type: 'integer', minimum: 1 } } }
    const { data } = await api.defineEvent({ body: { event_id: 'plan_chosen', variables } })
    const { definition_id = '' } = data?.definition ?? {}
    await send('plan_chosen', { seats: 0, tags: ['a'] }, { seats: 3 })
    const path = { definition_id }
    const required = { ...variables, required: ['seats'], additionalProperties: false }
    const previous_accepted_until = '2099-12-31T00:00:00Z'
    const body = {
      variables: required,
      mode: 'enforce',
      previous_accepted_until,
      confirm_breaking: true,
    } as const
    await api.updateEventDefinition({ path, body })
    await send('plan_chosen', { seats: -1 })

    const page = await open('events/definitions')
    await page.getByRole('link', { name: '2 violations of plan_chosen' }).click()
    await page
      .getByText('2 events did not conform in the last 30 days (UTC): 1 stored, 1 rejected.')
      .waitFor()
    await expect
      .poll(() => rows(page, 'Violations'))
      .toMatchObject(
        [
          ['Out of bounds: seats', /^First secret key/, 'Rejected, revision 2', '1', expect.any(String)],
          ['Out of bounds: seats', /^First secret key/, 'Stored, revision 1', '1', expect.any(String)],
        ].map((row) => row.map((cell) => (cell instanceof RegExp ? expect.stringMatching(cell) : cell))),
      )
    await inspectState(page, 'definition-violations')

    await page.getByRole('button', { name: 'End now…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Stop accepting revision 1?' })
    await dialog.getByText('are rejected from now on').waitFor()
    await dialog.getByRole('button', { name: 'End now' }).click()
    const told = page.getByText('Only the newest revision is accepted now.')
    await told.waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'End now…' }).count()).toBe(0)
    expect((await stored())[0]?.previous_accepted_until).toBeNull()

    await page.getByRole('link', { name: 'Show events with this name' }).click()
    const marks = page.getByRole('table', { name: 'Events' }).getByRole('img', { name: 'Does not conform' })
    await expect.poll(() => marks.count()).toBe(1)
    await marks.click()
    const details = page.getByRole('dialog', { name: 'plan_chosen' })
    await details.getByText('Does not conform to its current definition').waitFor()
    expect(await details.getByRole('listitem').allInnerTexts()).toEqual([
      'seats must be at least 1',
      'tags is not in the definition',
    ])
    expect(await details.locator('.json-tree').getByText('must be at least 1').count()).toBe(1)
    expect(await details.locator('.json-tree').getByText('is not in the definition').count()).toBe(1)
    // It would lie on the drawer.
    await told.waitFor({ state: 'hidden' })
    await inspectState(page, 'event-warnings')
  })
})

describe('The keyboard alone', () => {
  it('creates a definition, edits a field, and confirms a breaking change', async () => {
    const page = await open('events/definitions/new')
    const press = async (target: Locator, key: string) => {
      await target.waitFor()
      await tabTo(page, target)
      await page.keyboard.press(key)
    }
    const write = async (target: Locator, text: string) => {
      await target.waitFor()
      await tabTo(page, target)
      await page.keyboard.type(text)
    }
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await page.getByRole('textbox', { name: 'event_id' }).waitFor()
    await write(page.getByRole('textbox', { name: 'event_id' }), 'plan_chosen')
    await press(button('Add field'), 'Enter')
    await write(page.getByRole('textbox', { name: 'Field', exact: true }), 'seats')
    await write(page.getByRole('combobox', { name: 'Type of seats' }), 'Integer')
    await press(button('Review and save'), 'Enter')
    await press(page.getByRole('dialog').getByRole('button', { name: 'Define event' }), 'Enter')
    await heading(page, 'plan_chosen').waitFor()
    await page.getByText('Event defined.').waitFor({ state: 'hidden' })

    await press(button('Edit definition'), 'Enter')
    await press(page.getByRole('checkbox', { name: 'Required: seats' }), 'Space')
    await press(button('Details of seats'), 'Enter')
    await write(page.getByRole('textbox', { name: 'Minimum' }), '1')
    await press(button('Review and save'), 'Enter')
    const dialog = page.getByRole('dialog')
    await press(dialog.getByRole('checkbox', { name: /^I understand/ }), 'Space')
    await press(dialog.getByRole('button', { name: 'Save' }), 'Enter')
    await page.getByText('Revision 2', { exact: true }).waitFor()
    const properties = { seats: { type: 'integer', minimum: 1 } }
    expect(await stored()).toMatchObject([{ revision: 2, variables: { properties, required: ['seats'] } }])
  })
})

describe('The heading of a definition', () => {
  it('has the focus when its form is shown and when it is left', async () => {
    const { data } = await api.defineEvent({ body: { event_id: 'plan_chosen' } })
    const page = await open(`events/definitions/${data?.definition.definition_id}`)
    const expectHeading = () => expect.poll(() => hasFocus(heading(page, 'plan_chosen'))).toBe(true)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await button('Edit definition').press('Enter')
    await page.getByRole('textbox', { name: 'Description' }).waitFor()
    await expectHeading()
    await button('Cancel').press('Enter')
    await button('Edit definition').waitFor()
    await expectHeading()

    await button('Edit definition').press('Enter')
    await page.getByRole('textbox', { name: 'Description' }).fill('A plan was chosen.')
    await button('Review and save').press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await button('Edit definition').waitFor()
    await expectHeading()
  })
})

describe('The catalogue', () => {
  it('is empty at first, and finds names by their text and by whether they are defined', async () => {
    const page = await open('events/definitions')
    await page.getByRole('heading', { name: 'No event names yet' }).waitFor()
    await inspectState(page, 'no-event-names')
    await send('signed_up', {}, {})
    await send('Plan chosen', {})
    await api.defineEvent({ body: { event_id: 'signed_up' } })
    await page.reload()
    const names = async () => (await rows(page, 'Event names')).map(([name]) => name)
    await expect.poll(names).toEqual(['signed_up', 'Plan chosen'])
    await page.getByText('Not defined', { exact: true }).first().click()
    await expect.poll(names).toEqual(['Plan chosen'])
    await page.getByText('Defined', { exact: true }).click()
    await expect.poll(names).toEqual(['signed_up'])
    await page.getByRole('searchbox', { name: 'Search event names' }).fill('plan')
    await page.getByRole('heading', { name: 'No event name found' }).waitFor()
    await page.getByText('All', { exact: true }).click()
    await expect.poll(names).toEqual(['Plan chosen'])
  })
})
