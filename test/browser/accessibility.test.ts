// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import manifest from '../../package.json' with { type: 'json' }
import { inStore } from '../../server/cli/store.ts'
import { deleteSessionsOf } from '../../server/storage/tables/sessions.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { newMember, newPerson, type Person, type SignedUp, signIn, signUp } from '../fixtures/people.ts'
import { inspectScreen, inspectState, openAdministration } from './administration.ts'
import { axeViolations } from './axe.ts'
import { expectSmall, expectSmallIn, loadedFiles, loadedUrls, sizeOf } from './first-visit.ts'
import { expectLayersUncovered, inspectLayers } from './layers.ts'
import { comeBackTo, heading, screenPath, signInDialog, tableRows } from './screens.ts'

const nobody = '401 GET /v1/session'

/** One word that is longer than any screen is wide. */
const longWord = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2)

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let viewer: Person
let customer_id: string
let invitationLink: string
let definition_id: string
let webhook_id: string

beforeAll(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  viewer = await newMember(cairn, workspace, 'viewer')
  const { client, journey_id } = workspace
  const administration = owner.client(workspace.workspace_id)
  await administration.updateJourney({
    path: { journey_id },
    body: {
      description: 'From the first visit to the first invoice',
      steps: [
        { event_id: 'signed_up', name: 'Signed up' },
        { event_id: longWord, name: longWord },
      ],
    },
  })
  await administration.createJourney({ body: { name: longWord } })
  await administration.createServiceKey({
    body: { kind: 'publishable', name: longWord, allowed_origins: ['https://app.example.com'] },
  })
  for (const customer_name of ['Ada Lovelace', longWord]) {
    customer_id = await initialize(workspace, customer_name, { customer_name })
    for (const event_id of ['signed_up', longWord]) {
      const custom_variables = { plan: 'pro', [longWord]: longWord, address: { city: 'Praha' } }
      await client.createEvent({
        body: {
          journey_id,
          customer_id,
          event_id,
          custom_variables,
          message_id: `${customer_name} ${event_id}`.slice(0, 128),
        },
      })
    }
  }
  for (const event_id of ['signed_up', longWord]) {
    await client.createEvent({ body: { journey_id, customer_id: longWord, event_id } })
  }
  const variables = {
    type: 'object',
    properties: {
      plan: { type: 'string', enum: ['free', 'team'], description: 'The plan that was chosen' },
      seats: { type: 'integer', minimum: 1 },
      [longWord]: { type: 'array', items: { type: 'string', format: 'uri' } },
      address: { type: 'object', properties: { city: { type: 'string', maxLength: 100 } } },
    },
    required: ['plan'],
  } satisfies Schemas['DefinedValue']
  const { data: defined } = await administration.defineEvent({ body: { event_id: 'signed_up', variables } })
  definition_id = defined?.definition.definition_id ?? ''
  await administration.updateEventDefinition({
    path: { definition_id },
    body: { variables: { ...variables, required: ['plan', 'seats'] }, confirm_breaking: true },
  })
  const { data: told } = await administration.createWebhook({
    body: {
      // Nothing listens there, so that its deliveries fail.
      url: `http://127.0.0.1:9/${encodeURI(longWord)}`,
      description: longWord,
      types: ['event.created', 'journey.dropped'],
      journey_ids: [journey_id],
      event_ids: ['signed_up', longWord],
      dropped_after: 'P7D',
    },
  })
  webhook_id = told?.webhook.webhook_id ?? ''
  await client.createEvent({ body: { journey_id, customer_id, event_id: longWord } })
  await client.createEvent({
    body: {
      journey_id,
      customer_id,
      event_id: 'signed_up',
      custom_variables: { plan: 'pro', [longWord]: ['nowhere'], address: { city: 5 } },
    },
  })
  const { data: invitation } = await administration.createInvitation({
    body: { email: `${'ada-'.repeat(12)}lovelace@${'example-'.repeat(6)}company.example.com`, role: 'admin' },
  })
  if (!invitation) throw new Error('nobody was invited')
  invitationLink = `/invitation#token=${invitation.token}`
})

/** A screen of the interface and how to see all of it. */
type Screen = {
  /** Its path in app.tsx; '' for the index. */
  route: string
  name: string
  /** Opens it, and waits until its data is shown. */
  open: (options?: OpenOptions) => Promise<Page>
  /** Further states of the screen, after an action or in rarer cases; reached in this order on one page. */
  states?: State[]
  /** Measures the size of a first visit: everything in each coding, or the interface before a chart is visible. */
  measured?: 'in each coding' | 'before a chart'
  hasTabs?: boolean
}

type State = {
  name: string
  /** What the server is expected to refuse. */
  refusals?: string[]
  /** Brings the page into this state. */
  reach: (page: Page) => Promise<void>
  /** Closes what is open above the page. */
  leave?: (page: Page) => Promise<void>
}

type OpenOptions = Pick<
  Parameters<typeof openAdministration>[0],
  'refusals' | 'prepare' | 'viewport' | 'colorScheme'
>

async function inWorkspace(
  screen: string,
  shown: (page: Page) => Locator,
  options: OpenOptions = {},
): Promise<Page> {
  const path = screenPath(workspace, screen)
  const page = await openAdministration({ cairn, signedIn: owner.headers, path, ...options })
  await shown(page).waitFor()
  return page
}

/** Navigates within the interface as its links do, without a page load. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/admin${path}`)
}

/** Closes everything that is open above the page, also one layer above another. */
async function closeLayers(page: Page): Promise<void> {
  const layers = page.locator('[role=menu], [role=listbox], [role=dialog]').filter({ visible: true })
  for (let left = await layers.count(); left > 0; left = await layers.count()) {
    await page.keyboard.press('Escape')
    await expect.poll(() => layers.count()).toBeLessThan(left)
  }
}

async function outside(
  path: string,
  title: string | RegExp,
  { of = cairn, refusals = [nobody], ...options }: OpenOptions & { of?: Cairn } = {},
): Promise<Page> {
  const page = await openAdministration({ cairn: of, path, refusals, ...options })
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  return page
}

function table(name: string) {
  return (page: Page) => tableRows(page, name).first()
}

/** In the order of app.tsx. */
const screens: Screen[] = [
  {
    route: '',
    name: 'no-workspace',
    async open() {
      const signedIn = await signIn(cairn, await newPerson(cairn))
      const page = await openAdministration({ cairn, signedIn, path: '/' })
      await heading(page, 'You are not a member of any workspace').waitFor()
      return page
    },
  },
  {
    route: 'setup',
    name: 'setup',
    async open() {
      const fresh = await startCairnForTest()
      const path = new URL(fresh.setupLink ?? '').hash
      return await outside(`/setup${path}`, 'Set up Cairn', { of: fresh, refusals: [] })
    },
  },
  { route: 'invitation', name: 'invitation', open: () => outside(invitationLink, /^Join/) },
  {
    route: 'password',
    name: 'new-password',
    async open() {
      const { person_id } = await newMember(cairn, workspace, 'viewer')
      const { data } = await owner.client().createPasswordLink({ path: { person_id } })
      return await outside(`/password#token=${data?.token}`, 'Reset password', { refusals: [] })
    },
  },
  {
    // A view itself is inspected in views.test.ts.
    route: 'shared',
    name: 'shared-view-not-found',
    open: () =>
      outside('/shared#token=viewlink_unknown', 'This link is not valid', {
        refusals: ['404 POST /v1/shared-views/read'],
      }),
  },
  {
    route: 'sign-in',
    name: 'sign-in',
    open: (options) =>
      outside('/sign-in', 'Sign in', { ...options, refusals: [nobody, ...(options?.refusals ?? [])] }),
    measured: 'in each coding',
    states: [
      {
        name: 'wrong-password',
        refusals: ['401 POST /v1/session'],
        async reach(page) {
          await page.getByRole('textbox', { name: 'Email' }).fill('nobody@example.com')
          await page.getByLabel(/^Password/).fill('a wrong guess')
          await page.getByLabel(/^Password/).press('Enter')
          await page.getByRole('alert').waitFor()
        },
      },
    ],
  },
  {
    route: 'overview',
    name: 'overview',
    open: (options) =>
      inWorkspace('overview', (page) => page.getByRole('link', { name: 'Ada Lovelace' }).first(), options),
    measured: 'before a chart',
  },
  {
    route: 'journeys',
    name: 'journeys',
    open: (options) => inWorkspace('journeys', table('Journeys'), options),
    measured: 'in each coding',
    states: [
      {
        name: 'workspace-menu',
        async reach(page) {
          await page.getByRole('button', { name: /^Workspace / }).click()
          await page.getByRole('menuitem', { name: 'Create workspace…' }).waitFor()
        },
      },
      {
        name: 'new-workspace',
        async reach(page) {
          await page.getByRole('menuitem', { name: 'Create workspace…' }).click()
          await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).waitFor()
        },
        leave: closeLayers,
      },
      {
        name: 'foreign-workspace',
        async reach(page) {
          await follow(page, screenPath(await cairn.workspace(), 'journeys'))
          await heading(page, 'Workspace not found').waitFor()
        },
      },
    ],
  },
  {
    route: 'journeys/:journeyId',
    name: 'journey',
    open: (options) => inWorkspace(`journeys/${workspace.journey_id}`, table('Steps'), options),
    measured: 'before a chart',
    hasTabs: true,
  },
  {
    route: 'journeys/:journeyId/customers',
    name: 'journey-customers',
    open: (options) =>
      inWorkspace(
        `journeys/${workspace.journey_id}/customers?reached=1`,
        table('Customers in this journey'),
        options,
      ),
    measured: 'before a chart',
    hasTabs: true,
  },
  {
    route: 'journeys/:journeyId/settings',
    name: 'journey-settings',
    open: () =>
      inWorkspace(`journeys/${workspace.journey_id}/settings`, (page) =>
        page.getByText('Step 1', { exact: true }),
      ),
    hasTabs: true,
  },
  {
    // Leads to the report.
    route: 'views/:viewId',
    name: 'opened-view',
    async open() {
      const { journey_id } = workspace
      const view = {
        name: 'Accounts',
        journey_id,
        query: { last_days: 30 },
        visibility: 'workspace',
      } as const
      const { data } = await workspace.client.createView({ body: view })
      return await inWorkspace(`views/${data?.view_id}`, (page) => page.getByText('View: Accounts'))
    },
    hasTabs: true,
  },
  {
    route: 'keys',
    name: 'keys',
    open: () => inWorkspace('keys', (page) => page.getByText('First secret key')),
  },
  {
    route: 'webhooks',
    name: 'webhooks',
    open: () => inWorkspace('webhooks', table('Webhooks')),
  },
  {
    route: 'webhooks/new',
    name: 'new-webhook',
    open: () => inWorkspace('webhooks/new', (page) => page.getByRole('textbox', { name: 'URL' })),
  },
  {
    route: 'webhooks/:webhookId',
    name: 'webhook',
    open: () =>
      inWorkspace(`webhooks/${webhook_id}`, (page) =>
        page.getByText('The receiver does not accept messages'),
      ),
    hasTabs: true,
  },
  {
    route: 'first-event',
    name: 'first-event',
    open: () =>
      inWorkspace(`first-event?journey=${workspace.journey_id}`, (page) =>
        page.getByText(/received in Onboarding$/),
      ),
    hasTabs: true,
  },
  {
    route: 'customers',
    name: 'customers',
    open: () => inWorkspace('customers', table('Customers')),
    states: [
      {
        name: 'no-customer-found',
        async reach(page) {
          await follow(page, screenPath(workspace, 'customers?search=nobody'))
          await page.getByRole('heading', { name: 'No customer found' }).waitFor()
        },
      },
    ],
  },
  {
    route: 'customers/:customerId',
    name: 'customer',
    open: (options) =>
      inWorkspace(
        `customers/${customer_id}`,
        (page) => page.getByRole('button', { name: /Signed up/ }).first(),
        options,
      ),
    measured: 'before a chart',
  },
  {
    route: 'events',
    name: 'events',
    open: (options) => inWorkspace('events', table('Events'), options),
    hasTabs: true,
    states: [
      {
        name: 'event-details',
        async reach(page) {
          await page
            .getByRole('button', { name: /^signed_up/ })
            .first()
            .click()
          await page.getByText('Custom variables', { exact: true }).waitFor()
        },
        leave: closeLayers,
      },
      {
        name: 'customer-choices',
        async reach(page) {
          await page.getByRole('button', { name: 'Filter', exact: true }).click()
          await page.getByRole('searchbox', { name: 'event_id' }).fill('signed_up')
          await page.getByRole('combobox', { name: 'Customer' }).click()
          await page.getByRole('option', { name: /^Ada Lovelace/ }).waitFor()
        },
        leave: closeLayers,
      },
      {
        name: 'no-such-customer',
        refusals: ['404 GET /v1/customers/{id}'],
        async reach(page) {
          await follow(page, screenPath(workspace, 'events?customer_id=cus_00000000000000000000000000'))
          await page.getByRole('button', { name: 'Filter', exact: true }).click()
          await page.getByText('This workspace has no such customer').waitFor()
        },
      },
    ],
  },
  {
    route: 'events/refused',
    name: 'refused',
    async open() {
      const mistake = (page: Page) => page.getByRole('button', { name: /^customer_not_found/ })
      const page = await inWorkspace('events/refused', mistake)
      await mistake(page).click()
      await page.getByRole('button', { name: 'Preview replay' }).click()
      await page.getByText('would be rejected again').waitFor()
      await page.getByRole('table', { name: 'Rejected requests' }).waitFor()
      return page
    },
    hasTabs: true,
  },
  {
    route: 'events/definitions',
    name: 'definitions',
    open: () => inWorkspace('events/definitions', table('Event names')),
    hasTabs: true,
    states: [
      {
        name: 'no-event-name-found',
        async reach(page) {
          await follow(page, screenPath(workspace, 'events/definitions?search=nothing'))
          await page.getByRole('heading', { name: 'No event name found' }).waitFor()
        },
      },
    ],
  },
  {
    route: 'events/definitions/new',
    name: 'new-definition',
    open: () =>
      inWorkspace('events/definitions/new', (page) => page.getByRole('textbox', { name: 'event_id' })),
    states: [
      {
        name: 'faulty-definition',
        async reach(page) {
          await page.getByRole('button', { name: 'Add field' }).click()
          await page.getByRole('button', { name: 'Review and save' }).click()
          await page.getByText('Enter the event_id').waitFor()
        },
      },
    ],
  },
  {
    route: 'events/definitions/:definitionId',
    name: 'definition',
    open: () =>
      inWorkspace(`events/definitions/${definition_id}`, (page) =>
        page.getByText('Revision 2', { exact: true }),
      ),
    states: [
      {
        name: 'definition-form',
        async reach(page) {
          await page.getByRole('button', { name: 'Edit definition' }).click()
          await page.getByRole('button', { name: 'Details of plan' }).click()
          await page.getByText('Allowed values', { exact: true }).waitFor()
        },
      },
      {
        name: 'definition-review',
        async reach(page) {
          await page.getByRole('checkbox', { name: 'Required: plan' }).uncheck()
          await page.getByRole('button', { name: 'Review and save' }).click()
          await page.getByRole('dialog').getByText('This is a breaking change').waitFor()
        },
        leave: closeLayers,
      },
      {
        name: 'definition-as-json',
        async reach(page) {
          await page.getByRole('switch', { name: 'Edit as JSON' }).press('Space')
          await page.getByRole('textbox', { name: 'custom_variables as JSON Schema' }).waitFor()
        },
      },
    ],
  },
  {
    route: 'members',
    name: 'members',
    open: () => inWorkspace('members', table('Pending invitations')),
    states: [
      {
        name: 'invitation-form',
        async reach(page) {
          await page.getByRole('button', { name: 'Invite' }).click()
          await page.getByRole('button', { name: 'Create invitation link' }).click()
          await page.getByText('Enter an email').waitFor()
        },
        leave: closeLayers,
      },
      {
        name: 'member-menu',
        async reach(page) {
          await page
            .getByRole('button', { name: /^Actions for/ })
            .first()
            .click()
          await page.getByRole('menuitem').first().waitFor()
        },
      },
      {
        name: 'remove-member',
        async reach(page) {
          await page.getByRole('menuitem', { name: 'Remove from workspace…' }).click()
          await page.getByRole('dialog').waitFor()
        },
        leave: closeLayers,
      },
      {
        name: 'password-link',
        async reach(page) {
          const row = page.getByRole('row').filter({ hasText: viewer.email })
          await row.getByRole('button', { name: /^Actions for/ }).click()
          await page.getByRole('menuitem', { name: 'Create password reset link…' }).click()
          await page.getByRole('button', { name: 'Create link' }).click()
          await page.getByRole('dialog').getByRole('button', { name: 'Done' }).waitFor()
        },
        async leave(page) {
          const dialog = page.getByRole('dialog')
          await dialog.getByRole('button', { name: 'Done' }).click()
          await dialog.waitFor({ state: 'hidden' })
        },
      },
      {
        name: 'members-found',
        async reach(page) {
          await follow(page, screenPath(workspace, 'members?search=grace'))
          await table('Members')(page).waitFor()
        },
      },
      {
        name: 'no-member-found',
        async reach(page) {
          await follow(page, screenPath(workspace, 'members?search=nobody'))
          await page.getByRole('heading', { name: 'No member found' }).waitFor()
        },
      },
    ],
  },
  {
    route: 'audit-log',
    name: 'audit-log',
    open: () => inWorkspace('audit-log', (page) => page.getByRole('button', { name: 'Details' }).first()),
    states: [
      {
        name: 'audit-details',
        async reach(page) {
          await follow(page, screenPath(workspace, 'audit-log?area=journeys'))
          await page.getByRole('button', { name: /^Details.*changed the journey/ }).click()
          await page.getByRole('table', { name: 'Changes' }).waitFor()
        },
      },
    ],
  },
  {
    route: 'account',
    name: 'account',
    open: () => inWorkspace('account', (page) => page.getByText('Current', { exact: true })),
    states: [
      {
        name: 'person-menu',
        async reach(page) {
          await page.getByRole('button', { name: /account and sign out$/ }).click()
          await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
          await page.getByText(`Cairn ${manifest.version}`, { exact: true }).waitFor()
        },
      },
    ],
  },
  {
    route: '*',
    name: 'not-found',
    open: () => inWorkspace('nowhere', (page) => heading(page, 'Page not found')),
  },
  {
    route: '*',
    name: 'not-found-outside',
    open: () => outside('/nowhere', 'Page not found', { refusals: [] }),
  },
]

/** States that a page has when it is opened. */
const statesOfTheirOwn: Pick<Screen, 'name' | 'open'>[] = [
  {
    name: 'no-webhooks',
    async open() {
      const empty = await cairn.workspace()
      const { headers } = await signUp(cairn, empty, 'owner')
      const path = screenPath(empty, 'webhooks')
      const page = await openAdministration({ cairn, signedIn: headers, path })
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
      return page
    },
  },
  {
    name: 'setup-link-that-does-not-work',
    open: () =>
      outside('/setup#token=setup_gone', 'This setup link is not valid', {
        refusals: ['404 POST /v1/setup/look-up'],
      }),
  },
  {
    name: 'sign-in-again',
    async open() {
      const person = await newMember(cairn, workspace, 'viewer')
      const signedIn = await signIn(cairn, person)
      const refusals = ['401 GET /v1/session', '401 GET /v1/journeys']
      const path = screenPath(workspace, 'journeys')
      const page = await openAdministration({ cairn, signedIn, path, refusals })
      await table('Journeys')(page).waitFor()
      await inStore(cairn.databaseUrl, (db) => deleteSessionsOf(db, person.person_id))
      await comeBackTo(page)
      await signInDialog(page).waitFor()
      return page
    },
  },
]

/** Checks that tabs are in one row, all visible on a phone, and scroll on a narrower screen. */
async function expectTabsInOneRow(page: Page) {
  const rows = () =>
    page.locator('.tabs, [role=tablist]').evaluateAll((rows) =>
      rows.map((row) => ({
        tops: new Set(Array.from(row.children, (tab) => Math.round(tab.getBoundingClientRect().top))).size,
        isCut: row.scrollWidth > row.clientWidth,
      })),
    )
  const viewport = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await rows()).toEqual([{ tops: 1, isCut: false }])
  await page.setViewportSize({ width: 180, height: 800 })
  expect(await rows()).toMatchObject([{ tops: 1 }])
  if (viewport) await page.setViewportSize(viewport)
}

/** The menus and lists of options already checked on earlier screens. */
const layersSeen = new Set<string>()

describe('Every screen', () => {
  it('is inspected here', () => {
    const source = readFileSync('admin/app.tsx', 'utf8')
    // An index without a module of its own only redirects.
    const routes = Array.from(
      source.matchAll(/\bindex: true, lazy|\bpath: '([^']*)'/g),
      ([, path]) => path ?? '',
    )
    expect(screens.map(({ route }) => route)).toEqual(routes.filter((path) => path !== 'w/:workspaceId'))
  })

  // One visit for all of it: opening a page takes longer than inspecting it.
  it.each(screens)(
    'is accessible and never too wide, in light and dark and in every state, and small in a first visit: $name',
    async ({ name, open, states = [], measured, hasTabs }) => {
      const refusals = states.flatMap(({ refusals = [] }) => refusals)
      const viewport = { width: 1440, height: measured === 'before a chart' ? 500 : 900 }
      const page = await open({ refusals, viewport })
      if (measured) await page.waitForLoadState('networkidle')
      if (measured === 'before a chart') {
        expectSmall((await loadedFiles(page)).reduce((sum, path) => sum + sizeOf(path), 0))
        await page.setViewportSize({ width: 1440, height: 900 })
      }
      if (measured === 'in each coding') {
        const cookie = name === 'sign-in' ? {} : owner.headers
        for (const coding of ['br', 'gzip']) await expectSmallIn(coding, await loadedUrls(page), cookie)
      }

      await inspectScreen(page, name)
      // All of a first visit: nothing has been loaded in its context before.
      const files = new Set((await loadedFiles(page)).filter((path) => path.startsWith('/admin/assets/')))
      expect(files.size).toBeGreaterThan(2)
      expect(files.size).toBeLessThan(30)
      await inspectLayers(page, name, layersSeen)
      if (hasTabs) await expectTabsInOneRow(page)
      for (const { name, reach, leave } of states) {
        await reach(page)
        await inspectState(page, name)
        await leave?.(page)
      }
    },
  )

  it.each(statesOfTheirOwn)('stays so in every state: $name', async ({ name, open }) => {
    await inspectState(await open(), name)
  })

  it('hides its navigation behind a button on narrow screens', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    await page.setViewportSize({ width: 360, height: 800 })
    const navigation = page.getByRole('navigation', { name: 'Workspace' })
    await navigation.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Navigation' }).click()
    await navigation.waitFor()
    await page.getByRole('button', { name: /^Workspace / }).click()
    await page.getByRole('menuitem', { name: 'Create workspace…' }).waitFor()
    await expectLayersUncovered(page, 'beside the navigation')
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await axeViolations(page)).toEqual([])
    await navigation.getByRole('link', { name: 'Members' }).click()
    await heading(page, 'Members').waitFor()
    await navigation.waitFor({ state: 'hidden' })
  })
})
