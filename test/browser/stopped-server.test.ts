// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { freePort } from '../fixtures/free-port.ts'
import { newMember, signIn } from '../fixtures/people.ts'
import { inspectState, openAdministration } from './administration.ts'
import { heading, screenPath, tableRows } from './screens.ts'

describe('A server that does not answer', () => {
  const refused = (path: string) => `net::ERR_CONNECTION_REFUSED GET ${path}`

  /** A server in a process of its own that can be stopped and restarted at the same address, and a page of it. */
  async function openOn(screen: string, refusals: string[]) {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const workspace = await createWorkspace(databaseUrl, { workspace: 'Example Ltd', journey: 'Onboarding' })
    const environment = { PORT: `${await freePort()}` }
    let server = await startChildServer({ databaseUrl, environment })
    const { url } = server
    const person = await newMember({ url, databaseUrl }, workspace, 'owner')
    const signedIn = await signIn({ fetch: (path, init) => fetch(`${url}/v1${path}`, init) }, person)
    const path = screenPath(workspace, screen)
    const page = await openAdministration({ cairn: { url }, signedIn, path, refusals })
    return {
      page,
      stop: () => server.end('SIGTERM'),
      async start() {
        server = await startChildServer({ databaseUrl, environment })
      },
    }
  }

  it('is reported, and “Try again” loads what was requested once it is back', async () => {
    const { page, stop, start } = await openOn('customers', [refused('/v1/customers')])
    await page.getByRole('heading', { name: 'No customers yet' }).waitFor()
    await stop()

    await page.getByRole('searchbox', { name: 'Search customers' }).fill('ada')
    const alert = page.getByRole('alert', { name: 'Cannot reach Cairn' })
    await alert.waitFor()
    await inspectState(page, 'server-stopped')
    await start()
    await alert.getByRole('button', { name: 'Try again' }).click()

    await page.getByRole('heading', { name: 'No customer found' }).waitFor()
    await alert.waitFor({ state: 'hidden' })
    expect(await page.getByRole('searchbox', { name: 'Search customers' }).inputValue()).toBe('ada')
  })

  it('loses nothing of a form', async () => {
    const { page, stop, start } = await openOn('journeys', ['net::ERR_CONNECTION_REFUSED POST /v1/journeys'])
    await tableRows(page, 'Journeys').first().waitFor()
    await page.getByRole('button', { name: 'Create journey' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Renewal')
    await stop()

    await dialog.getByRole('button', { name: 'Create journey' }).click()
    await dialog.getByRole('alert', { name: 'Cannot reach Cairn' }).waitFor()
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Renewal')
    await start()
    await dialog.getByRole('button', { name: 'Create journey' }).click()
    await heading(page, 'Renewal').waitFor()
  })

  it('is reported if a screen’s code cannot be loaded, and a reload opens the screen once it is back', async () => {
    const { page, stop, start } = await openOn('journeys', [refused('/admin/assets/{file}')])
    await tableRows(page, 'Journeys').first().waitFor()
    await stop()
    await page.getByRole('link', { name: 'Members' }).click()
    await heading(page, 'This page could not be loaded').waitFor()
    await start()
    await page.getByRole('button', { name: 'Reload page' }).click()
    await tableRows(page, 'Members').first().waitFor()
  })
})
