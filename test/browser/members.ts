import type { Locator, Page } from 'playwright-core'
import { addMember, browser, newPerson, type Person, type SignedUp, signIn } from '../fixtures/people.ts'
import { it as base } from './it.ts'

type Role = 'owner' | 'admin' | 'viewer'

/** `it` of a screen, and `member` for a signed-in member of the workspace. */
export const it = base.extend('member', ({ cairn, workspace }) => {
  return async (name: string, role: Role): Promise<SignedUp> => {
    const person = await newPerson(cairn, { name })
    await addMember(cairn, workspace, person, role)
    return { ...person, ...browser(cairn, await signIn(cairn, person)) }
  }
})

export function memberRow(page: Page, { email }: Pick<Person, 'email'>): Locator {
  return page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: email })
}

/** Chooses from the menu of a member. */
export async function chooseAction(
  page: Page,
  { name }: Pick<Person, 'name'>,
  action: string,
): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}
