import type { Locator, Page } from 'playwright-core'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const now = Date.now()

export const steps = [
  { event_id: 'signed_up', name: 'Signed up' },
  { event_id: 'plan_chosen', name: 'Chose a plan' },
  { event_id: 'paid', name: 'Paid' },
]

/** What each customer did, and how long ago. */
export const done: Record<string, [event_id: string, ago: number][]> = {
  'Ada Lovelace': [
    ['signed_up', 20 * day],
    ['page_viewed', 19 * day],
    ['plan_chosen', 19 * day - 3 * hour],
    ['paid', 12 * day],
  ],
  'Grace Hopper': [
    ['signed_up', 15 * day],
    ['plan_chosen', 14 * day],
  ],
  'Edsger Dijkstra': [['signed_up', 40 * day]],
  'Barbara Liskov': [['signed_up', 2 * hour]],
  'Donald Knuth': [['paid', 3 * day]],
  'Example GmbH': [
    ['signed_up', 6 * day],
    ['plan_chosen', 6 * day - 90 * minute],
  ],
  'Nobody & Sons GmbH': [],
}

export type ReportedJourney = Awaited<ReturnType<typeof reportedJourney>>

/** A workspace with its owner, where each customer has done so, and functions that open its screens and the report. */
export async function reportedJourney() {
  const { cairn, workspace, owner } = await ownedWorkspace()
  const { client, journey_id } = workspace
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  for (const [customer_name, events] of Object.entries(done)) {
    const customer_id = await enrol(workspace, customer_name)
    for (const [event_id, ago] of events) {
      const occurred_at = new Date(now - ago).toISOString()
      await client.createEvent({ body: { journey_id, customer_id, event_id, occurred_at } })
    }
  }
  const open = (screen: string, of = workspace, signedIn = owner.headers): Promise<Page> =>
    openAdministration({ cairn, signedIn, path: screenPath(of, screen) })
  const openReport = (search = '') => open(`journeys/${journey_id}${search}`)
  return { cairn, workspace, owner, open, openReport }
}

export function enrol(workspace: Workspace, customer_name: string): Promise<string> {
  const customer_type = customer_name.endsWith('GmbH') ? 'account' : 'contact'
  return initialize(workspace, customer_name, { customer_name, customer_type })
}

export function stepTable(page: Page): Locator {
  return page.getByRole('table', { name: 'Steps' })
}

/** The visible cells of a table, row by row, as a person reads them. */
export function cellsOf(table: Locator): Promise<string[][]> {
  return table.locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) =>
      Array.from(row.querySelectorAll<HTMLElement>('th, td'))
        .filter((cell) => cell.checkVisibility())
        .map((cell) => cell.innerText.replaceAll(/\s+/g, ' ').trim()),
    ),
  )
}
