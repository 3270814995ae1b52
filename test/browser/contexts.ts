import type { BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { withPatience } from '../fixtures/patience.ts'
import { sharedChromium } from './chromium.ts'

/** Defaults for all pages of the interface. */
const ordinary = {
  viewport: { width: 1440, height: 900 },
  reducedMotion: 'reduce',
  permissions: ['clipboard-read', 'clipboard-write'],
} satisfies BrowserContextOptions

/** A context that no test uses now, and a page in it that keeps its renderer process alive. */
type Idle = { context: BrowserContext; keeper: Page; session: CDPSession }

const idle: Idle[] = []

export type Lent = {
  context: BrowserContext
  /** Call it when the test ends. It closes the pages and clears their state. */
  giveBack: () => Promise<void>
}

type OwnContext = {
  timezoneId: string | undefined
  /** Whether the test turns the clock of its pages forward. */
  turnsClock: boolean
}

/**
 * Returns a browser context for one test, with clipboard permission and without animations. Contexts are reused and
 * cleared, except with a time zone or a clock of their own: nearly half of the time to open a page in a new context goes
 * into starting its process and compiling the interface there.
 * @param url of the server whose pages are opened
 */
export async function lendContext(url: string, { timezoneId, turnsClock }: OwnContext): Promise<Lent> {
  if (timezoneId || turnsClock) {
    const context = await newContext(timezoneId ? { timezoneId } : {})
    if (turnsClock) await context.clock.install()
    return { context, giveBack: () => context.close() }
  }
  const { context, keeper, session } = idle.pop() ?? (await newIdle())
  // The pages of one site share a process.
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
  // Nothing restores the clock of a context: the pages of later tests would have the wrong time.
  for (const method of ['install', 'pauseAt', 'setFixedTime', 'setSystemTime'] as const) {
    context.clock[method] = () => Promise.reject(new Error('Open the page with `turnsClock: true`.'))
  }
  const keeper = await context.newPage()
  return { context, keeper, session: await context.newCDPSession(keeper) }
}

async function newContext(options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await (await sharedChromium()).newContext({ ...ordinary, ...options })
  context.setDefaultTimeout(withPatience.timeout)
  return context
}
