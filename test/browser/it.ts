import type { Page } from 'playwright-core'
import { it as base } from '../fixtures/it.ts'
import { type AdministrationOptions, openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

type Open = (screen: string, options?: Omit<AdministrationOptions, 'cairn' | 'path'>) => Promise<Page>

/** `it` of the fixtures, and `open` for a screen of the workspace, with its owner signed in. */
export const it = base.extend('open', ({ cairn, workspace, owner }): Open => {
  return (screen, options) =>
    openAdministration({ cairn, path: screenPath(workspace, screen), signedIn: owner.headers, ...options })
})
