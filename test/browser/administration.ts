import type {
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Locator,
  Page,
  Request,
  Response,
  WebError,
} from 'playwright-core'
import { expect, onTestFinished, vi } from 'vitest'
import { withPatience } from '../fixtures/patience.ts'
import type { SignedIn } from '../fixtures/people.ts'
import { axeViolations, colorViolations } from './axe.ts'
import { lendContext } from './contexts.ts'
import { expectLayersUncovered } from './layers.ts'
import { keepsScreenshots } from './screenshots.ts'

export type AdministrationOptions = Pick<
  BrowserContextOptions,
  'viewport' | 'colorScheme' | 'reducedMotion' | 'timezoneId'
> & {
  /** A server, in this process or in one of its own. */
  cairn: { url: string }
  /** Path below /admin, with its leading slash. */
  path: string
  /** The session to use; without one nobody is signed in. */
  signedIn?: SignedIn | undefined
  /**
   * Requests that are expected to be refused, such as `401 GET /v1/session`, with `{id}` for identifiers and
   * `/admin/assets/{file}` for the files of the interface. A request without a response is named by its error:
   * `net::ERR_CONNECTION_REFUSED GET /v1/session`. More may be added while the page is open; all of them must have
   * occurred by the end of the test. Where a 401, a 403 or an error is expected, the reads that a signed-in page
   * repeats by itself may end the same way.
   */
  refusals?: string[]
  /** Whether the test turns the page's clock forward, with `page.clock`, which is then installed. */
  turnsClock?: boolean
  /** What is done to the page before it is opened, such as to watch it from its beginning. */
  prepare?: (page: Page) => Promise<unknown>
}

/**
 * Opens the administration interface in a browser context of its own, with clipboard permission and (by default)
 * without animations. It is closed when the test ends. The test fails if a page contacted another host, was refused
 * something unexpected, wrote a warning or an error to the console (for example a violation of the
 * Content-Security-Policy), or threw.
 */
export async function openAdministration(options: AdministrationOptions): Promise<Page> {
  const {
    cairn,
    path,
    signedIn,
    refusals = [],
    prepare,
    viewport,
    timezoneId,
    turnsClock = false,
    ...media
  } = options
  const { context, giveBack } = await lendContext(cairn.url, { timezoneId, turnsClock })
  if (signedIn) {
    const [name = '', value = ''] = signedIn.cookie.split('=')
    await context.addCookies([{ name, value, url: cairn.url, httpOnly: true, sameSite: 'Strict' }])
  }
  const { complaints, missing } = collectComplaints(context, cairn.url, refusals)
  const page = await context.newPage()
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await keepFailure(context, task.name)
    // What the test has waited for may be shown before a request beside it is answered.
    else await vi.waitUntil(() => missing().length === 0, withPatience).catch(() => {})
    await giveBack()
    expect([...complaints(), ...missing().map((refusal) => `never gets ${refusal}`)]).toEqual([])
  })
  if (viewport) await page.setViewportSize(viewport)
  await page.emulateMedia(media)
  await prepare?.(page)
  await page.goto(`${cairn.url}/admin${path}`)
  return page
}

/** The path of any file of the interface in the name of a refusal. */
const FILE = '/admin/assets/{file}'

const CODE_NOT_LOADED = 'Failed to fetch dynamically imported module'

/**
 * @returns `complaints`, which stops collecting and returns them, and `missing`, which returns the expected refusals that were not
 *   seen yet
 */
function collectComplaints(context: BrowserContext, url: string, refusals: string[]) {
  const complaints = new Set<string>()
  const refused = new Set<string>()
  let signedIn = false
  /** Reads of a signed-in page: it repeats them at intervals, so that any of them may be under way when a session ends. */
  const refusedReads = new Set<string>()
  const onRequest = (request: Request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== url && protocol !== 'data:') complaints.add(`asks for ${request.url()}`)
  }
  const onResponse = (response: Response) => {
    if (response.status() >= 400) refuse(response.status(), response.request())
    else if (new URL(response.url()).pathname === '/v1/session') signedIn = true
  }
  const refuse = (outcome: number | string | undefined, request: Request) => {
    const name = nameOf(outcome, request)
    refused.add(name)
    if (signedIn && request.method() === 'GET') refusedReads.add(name)
  }
  const isExpected = (refusal: string) => {
    if (refusals.includes(refusal)) return true
    const [outcome] = refusal.match(/^(401|403|net::\S+) /) ?? []
    return (
      outcome !== undefined && refusedReads.has(refusal) && refusals.some((name) => name.startsWith(outcome))
    )
  }
  const onFailedRequest = (request: Request) => {
    const error = request.failure()?.errorText
    // Aborted by the page itself, which was left or no longer needs the response.
    if (error !== 'net::ERR_ABORTED') refuse(error, request)
  }
  const complain = (text: string) => {
    // A refusal is counted above.
    if (text.startsWith('Failed to load resource:')) return
    if (text.includes(CODE_NOT_LOADED) && refusals.some((name) => name.endsWith(FILE))) return
    complaints.add(text)
  }
  const onConsole = (message: ConsoleMessage) => {
    if (['error', 'warning'].includes(message.type())) complain(message.text())
  }
  const onError = (error: WebError) => complain(String(error.error()))
  context
    .on('request', onRequest)
    .on('response', onResponse)
    .on('requestfailed', onFailedRequest)
    .on('console', onConsole)
    .on('weberror', onError)
  const missing = () => refusals.filter((refusal) => !refused.has(refusal))
  const end = () => {
    context
      .off('request', onRequest)
      .off('response', onResponse)
      .off('requestfailed', onFailedRequest)
      .off('console', onConsole)
      .off('weberror', onError)
    return [
      ...complaints,
      ...[...refused].filter((refusal) => !isExpected(refusal)).map((refusal) => `gets ${refusal}`),
    ]
  }
  return { complaints: end, missing }
}

function nameOf(outcome: number | string | undefined, request: { url(): string; method(): string }): string {
  const path = new URL(request.url()).pathname
    .replaceAll(/[a-z]+_[0-9a-z]{26}/g, '{id}')
    .replace(/^\/admin\/assets\/.*/, FILE)
  return `${outcome} ${request.method()} ${path}`
}

async function keepFailure(context: BrowserContext, testName: string) {
  const name = testName.replaceAll(/\W+/g, '-')
  for (const [index, page] of context.pages().entries()) {
    const path = `dist/screenshots/failed-${name}-${index}.png`
    // A page that hangs must not hide why the test failed.
    await page.screenshot({ path, timeout: 2000 }).catch(() => {})
  }
}

/**
 * The viewports and color schemes in which a screen is inspected, and what axe checks there. The schemes differ only in
 * colors; a fault at a width in between also shows at one of its ends.
 */
const looks = [
  { colorScheme: 'light', width: 360, violations: axeViolations },
  { colorScheme: 'light', width: 768 },
  { colorScheme: 'light', width: 1440, violations: axeViolations },
  { colorScheme: 'dark', width: 1440, violations: colorViolations },
] as const satisfies { colorScheme: string; width: number; violations?: typeof axeViolations }[]

/** Other states of a screen are inspected at the narrowest width, and in the other color scheme. */
const looksAtState = [looks[0], looks[3]] as const

/**
 * Inspects the page in narrow and wide viewports and in both color schemes: nothing overflows horizontally, nothing
 * covers an open layer, axe finds no violation. Keeps a screenshot if they are asked for.
 */
export async function inspectScreen(page: Page, name: string): Promise<void> {
  await inspect(page, name, looks)
}

/** The same for another state of a screen that `inspectScreen` has inspected. */
export async function inspectState(page: Page, name: string): Promise<void> {
  await inspect(page, name, looksAtState)
}

async function inspect(page: Page, name: string, windows: readonly (typeof looks)[number][]) {
  const viewport = page.viewportSize()
  for (const { colorScheme, width, ...look } of windows) {
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    await page.setViewportSize({ width, height: 800 })
    // What is shown until newer data arrive is grey.
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
    await settled(page)
    const where = `${name} at ${width} px, ${colorScheme}`
    expect(await namesOf(page.locator(unsaidInputs)), where).toEqual([])
    if (keepsScreenshots) await keepScreenshot(page, name)
    expect(await page.evaluate(() => document.documentElement.scrollWidth), where).toBe(width)
    // This takes longer than everything else.
    if ('violations' in look) expect(await look.violations(page), where).toEqual([])
  }
  await expectLayersUncovered(page, name)
  if (viewport) await page.setViewportSize(viewport)
}

/** Turns the clock of the page forward, which reads nothing more. */
export async function waitWithoutReading(page: Page, ms: number): Promise<void> {
  await page.route('**/v1/**', () => {})
  await page.clock.fastForward(ms)
}

/** Fields that do not say what a browser may fill in: it would offer a person's name for that of a journey. */
const unsaidInputs =
  'input:is(:not([type]), [type=text], [type=email], [type=url], [type=password]):not([autocomplete], [readonly])'

function namesOf(inputs: Locator): Promise<string[]> {
  return inputs.evaluateAll((inputs) =>
    inputs.map((input) => (input as HTMLInputElement).labels?.[0]?.textContent ?? input.outerHTML),
  )
}

/** Waits until the consequences of a viewport change are drawn. */
async function settled(page: Page) {
  await page.evaluate(async () => {
    // Listeners of the window draw in the next frame.
    for (let frame = 0; frame < 2; frame++) await new Promise((resolve) => requestAnimationFrame(resolve))
    const animations = document.getAnimations().filter(({ effect }) => {
      return effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY
    })
    await Promise.allSettled(animations.map(({ finished }) => finished))
  })
}

/**
 * Saves a screenshot of the whole page as dist/screenshots/admin-NAME-WIDTH-SCHEME.png, with a viewport as high as the
 * page, so that sticky elements at the bottom of the viewport are at the bottom of the page.
 */
async function keepScreenshot(page: Page, name: string): Promise<void> {
  const viewport = page.viewportSize()
  if (!viewport) throw new Error('the page has no size')
  const { width } = viewport
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  const scheme = await page.locator('html').getAttribute('data-mantine-color-scheme')
  if (height > viewport.height) await page.setViewportSize({ width, height })
  await settled(page)
  await page.screenshot({ path: `dist/screenshots/admin-${name}-${width}-${scheme}.png` })
  if (height > viewport.height) await page.setViewportSize(viewport)
}

/**
 * Returns a function that scrolls to the chart of a region and counts these parts of it. A chart is loaded once it is visible,
 * and what is loaded above it may move it away again.
 */
export function countDrawn(region: Locator, parts: Locator): () => Promise<number> {
  return async () => {
    await region.getByRole('figure').first().scrollIntoViewIfNeeded()
    return await parts.count()
  }
}

/**
 * Goes back once the page guards what would be lost: a guard is set some turns of its event loop after what it guards is shown.
 */
export async function goBack(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve))
    history.back()
  })
}

/** Goes back, is asked with this title whether to leave, and stays. */
export async function goBackAndStay(page: Page, title: string): Promise<void> {
  await goBack(page)
  const question = page.getByRole('dialog', { name: title })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'hidden' })
}

/** From now on the page gets no response to a change that it sends to such a URL, although the server makes the change. */
export async function loseResponses(page: Page, url: string, method = 'POST'): Promise<void> {
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    await route.fetch()
    await route.abort()
  })
}

/** The page gets no response to its first request to such a URL, nor the session that the server starts for it. */
export async function loseFirstResponse(page: Page, url: string): Promise<void> {
  await page.route(
    url,
    async (route) => {
      await route.fetch()
      // That of the session, which `route.fetch` has stored.
      await page.context().clearCookies()
      await route.abort()
    },
    { times: 1 },
  )
}

/**
 * From now on the page's requests to such a URL wait, or only those with the method.
 * @returns a function that lets them go on
 */
export async function holdRequests(page: Page, url: string | RegExp, method?: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    if (method === undefined || route.request().method() === method) await promise
    await route.fallback()
  })
  return resolve
}

/**
 * Clicks a button, and again whenever a person could until it is gone: before the page's next task, as the second click of a
 * double click is on a slow machine, and then in every frame, also of the transition that closes its dialog.
 */
export async function clickRepeatedly(button: Locator): Promise<void> {
  await button.evaluate(async (button: HTMLElement) => {
    button.click()
    for (let turn = 0; turn < 100; turn++) await Promise.resolve()
    while (button.isConnected) {
      const { x, y, width, height } = button.getBoundingClientRect()
      if (button.contains(document.elementFromPoint(x + width / 2, y + height / 2))) button.click()
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  })
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  for (let presses = 0; presses < 50; presses++) {
    if (await hasFocus(element)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${element}`)
}

export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((element) => element === document.activeElement)
}

/** Whether an element or something in it has the focus, so that it gets what is typed. */
export function hasFocusWithin(element: Locator): Promise<boolean> {
  return element.evaluate((element) => element.contains(document.activeElement))
}
