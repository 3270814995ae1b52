import type { Locator, Page } from 'playwright-core'
import type { Person } from '../people.ts'

/** The path, below /admin, of a screen of a workspace: `/w/wsp_…/members`. */
export function screenPath({ workspace_id }: { workspace_id: string }, screen: string): string {
  return `/w/${workspace_id}/${screen}`
}

/** The heading of the screen that is shown. */
export function heading(page: Page, name: string): Locator {
  return page.getByRole('heading', { level: 1, name, exact: true })
}

/** Fills in the form for signing in that is on the page, or in the dialog, and sends it. */
export async function sendSignIn(
  place: Page | Locator,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<void> {
  const emailField = place.getByRole('textbox', { name: 'Email' })
  // In the dialog it is fixed.
  if (await emailField.isEditable()) await emailField.fill(email)
  await place.getByLabel(/^Password/).fill(password)
  await place.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** What a page asks of somebody whose session has ended meanwhile. */
export function signInDialog(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Sign in again' })
}

export async function chooseFromPersonMenu(page: Page, { name }: Pick<Person, 'name'>, item: string) {
  await page.getByRole('button', { name: `${name}, account and sign out` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** Tells the page what a browser tells it when somebody comes back to its tab: headless, all tabs are always in sight. */
export async function comeBackTo(page: Page): Promise<void> {
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
}
