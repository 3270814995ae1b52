import type { Locator, Page } from 'playwright-core'
import type { Person } from '../fixtures/people.ts'

/** Returns the path of a workspace's screen below /admin: `/w/wsp_…/members`. */
export function screenPath({ workspace_id }: { workspace_id: string }, screen: string): string {
  return `/w/${workspace_id}/${screen}`
}

/** Returns the heading of the current screen. */
export function heading(page: Page, name: string): Locator {
  return page.getByRole('heading', { level: 1, name, exact: true })
}

/** Returns the rows of a table, without its header. */
export function tableRows(page: Page, name: string): Locator {
  return page.getByRole('table', { name }).locator('tbody tr')
}

export function field(place: Page | Locator, name: string): Locator {
  return place.getByRole('textbox', { name, exact: true })
}

/** Returns the parameters in the page's address. */
export function query(page: Page): Record<string, string> {
  return Object.fromEntries(new URL(page.url()).searchParams)
}

/** Fills in and submits the sign-in form of the page or the dialog. */
export async function sendSignIn(
  place: Page | Locator,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<void> {
  const emailField = place.getByRole('textbox', { name: 'Email' })
  // In the dialog the email is read-only.
  if (await emailField.isEditable()) await emailField.fill(email)
  await place.getByLabel(/^Password/).fill(password)
  await place.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Returns the dialog that asks a person to sign in again after the session has ended. */
export function signInDialog(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Sign in again' })
}

export async function chooseFromPersonMenu(page: Page, { name }: Pick<Person, 'name'>, item: string) {
  await page.getByRole('button', { name: `${name}, account and sign out` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

export async function chooseFromWorkspaceMenu(page: Page, item: string) {
  await page.getByRole('button', { name: /^Workspace / }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** Simulates that the user returns to the tab, because all tabs of a headless browser are always visible. */
export async function comeBackTo(page: Page): Promise<void> {
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
}
