import type { BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { withPatience } from '../patience.ts'
import { sharedChromium } from './chromium.ts'

/** What all pages of the interface are opened with, unless a test tells otherwise. */
const ordinary = {
  viewport: { width: 1440, height: 900 },
  reducedMotion: 'reduce',
  permissions: ['clipboard-read', 'clipboard-write'],
} satisfies BrowserContextOptions

/** A context that no test has at this moment, and a page in it that keeps the process in which its pages are drawn. */
type Idle = { context: BrowserContext; keeper: Page; session: CDPSession }

const idle: Idle[] = []

export type Lent = {
  context: BrowserContext
  /** To be called when the test has ended. Its pages are closed, and nothing of it is left. */
  giveBack: () => Promise<void>
}

/**
 * A browser context for one test, with leave to use the clipboard and without animations. Who has a time zone of its own
 * gets a new one; all others get one after the other the same, emptied: of what it takes to open a page in a new context,
 * nearly half is to start its process and to compile the interface there.
 * @param url of the server whose pages are opened
 */
export async function lendContext(
  url: string,
  options: Pick<BrowserContextOptions, 'timezoneId'>,
): Promise<Lent> {
  if (options.timezoneId) {
    const context = await newContext(options)
    return { context, giveBack: () => context.close() }
  }
  const { context, keeper, session } = idle.pop() ?? (await newIdle())
  // A process is shared by the pages of one site.
  if (!keeper.url().startsWith(`${url}/`)) await keeper.goto(`${url}/livez`)
  return {
    context,
    async giveBack() {
      await Promise.all(context.pages().map((page) => (page === keeper ? undefined : page.close())))
      await context.clearCookies()
      const origin = new URL(url).origin
      await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
      idle.push({ context, keeper, session })
    },
  }
}

async function newIdle(): Promise<Idle> {
  const context = await newContext({})
  const keeper = await context.newPage()
  return { context, keeper, session: await context.newCDPSession(keeper) }
}

async function newContext(options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await (await sharedChromium()).newContext({ ...ordinary, ...options })
  context.setDefaultTimeout(withPatience.timeout)
  return context
}
