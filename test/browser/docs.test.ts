// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sitePolicy } from '../../server/http/answers/security-headers.ts'
import { problems } from '../../server/problems.ts'
import { withPatience } from '../fixtures/patience.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { axeViolations, colorViolations, structureViolations } from './axe.ts'
import { sharedChromium } from './chromium.ts'
import { keepsScreenshots } from './screenshots.ts'

type Security = Record<string, unknown>[]
type Contract = {
  servers: [{ url: string }]
  security: Security
  paths: Record<string, Record<string, { operationId: string; summary: string; security?: Security }>>
  webhooks: Record<string, { post: { operationId: string; summary: string } }>
  components: { schemas: { ProblemCode: { enum: (keyof typeof problems)[] } } }
}

const contract = load(readFileSync('openapi.yaml', 'utf8')) as Contract
const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
)
/** The operator's guides, by name below the site. */
const guides = readdirSync('deploy').flatMap((file) => {
  if (!file.endsWith('.md') || file === 'README.md') return []
  const markdown = readFileSync(join('deploy', file), 'utf8')
  return [{ name: file.replace('.md', ''), title: /^# (.*)$/m.exec(markdown)?.[1] ?? '', markdown }]
})
const written = mkdtempSync(join(tmpdir(), 'cairn-docs-'))

/** The site as served by Cairn at /docs/, and as files in a folder of a static host. */
const everyHost = ['the server', 'a static host'] as const
/** The files, with a reference of a few operations: what takes axe half a minute for all of them takes a second for these. */
const shortReference = 'a static host of a short reference'
type Host = (typeof everyHost)[number] | typeof shortReference

/** Operations that together have every kind of element. */
const everyKind = ['createEvent', 'createEvents', 'listEvents']

let staticHost: Server
/** The folders of the static host, by path. */
const folders = { '/some/folder/': written, '/short/': mkdtempSync(join(tmpdir(), 'cairn-docs-')) }
const sites = {} as Record<Host, string>
let browser: Browser
/** The reference, opened once per host for tests that only read it, because rendering takes seconds. */
const references = new Map<Host, Page>()
/** The hosts whose reference was opened by the URL of an operation, and led to it. */
const openedWithin = new Set<Host>()
/** Size of a page's window, unless a test sets another. */
const ordinary = { width: 1280, height: 720 }
/** The pages that a test has opened. */
const opened: Page[] = []
/** What each page requested, below its site. */
const requested = new WeakMap<Page, string[]>()
/** Violations of what every page must avoid: requests elsewhere or in vain, policy violations, errors. */
let complaints: string[]

beforeAll(async () => {
  execFileSync(process.execPath, ['server/docs/write.ts', written])
  writeShortReference(folders['/short/'])
  const { url } = await sharedCairn()
  staticHost = createServer(serveFiles).listen(0, '127.0.0.1')
  await once(staticHost, 'listening')
  const staticUrl = `http://127.0.0.1:${(staticHost.address() as AddressInfo).port}`
  sites['the server'] = `${url}/docs/`
  sites['a static host'] = `${staticUrl}/some/folder/`
  sites[shortReference] = `${staticUrl}/short/`
  browser = await sharedChromium()
})

afterAll(async () => {
  await Promise.all(Array.from(references.values(), (page) => page.context().close()))
  staticHost?.close()
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true })
})

beforeEach(() => {
  complaints = []
})

afterEach(async () => {
  const kept = new Set(references.values())
  await Promise.all(opened.splice(0).map((page) => (kept.has(page) ? undefined : page.context().close())))
  expect(complaints).toEqual([])
})

// Redoc is slow on a busy machine.
describe('The API reference', () => {
  it.each(everyHost)('shows every operation of the contract and no other, on %s', async (host) => {
    const page = await openedReference(host)
    const shown = await page.locator('[id^="operation/"]').evaluateAll((sections) =>
      sections.map((section) => ({
        operationId: section.id.replace('operation/', ''),
        summary: section.querySelector('h2')?.textContent.trim(),
        text: section.textContent,
      })),
    )
    const expected = operations.map(({ operationId, summary, method, path }) => ({
      operationId,
      summary,
      text: expect.stringContaining(`${method}${path}`),
    }))
    const messages = Object.values(contract.webhooks).map(({ post: { operationId, summary } }) => {
      // With a badge in its heading.
      const heading = expect.stringMatching(new RegExp(`^${summary}\\s+Webhook$`))
      return { operationId, summary: heading, text: expect.stringContaining('webhook-signature') }
    })
    const sorted = <T extends { operationId: string }>(list: T[]) =>
      list.toSorted((a, b) => (a.operationId < b.operationId ? -1 : 1))
    expect(sorted(shown)).toEqual(sorted([...expected, ...messages]))
  })

  it('shows the path of requests as the contract gives it', async () => {
    const page = await openedReference('the server')
    const base = contract.servers[0].url
    // All at once: each search for a text traverses all of a large page.
    const shown = await page.locator('body *').evaluateAll((elements, base) => {
      const textOf = (element: Element) => element.textContent?.trim() ?? ''
      const isInnermost = (element: Element) =>
        !Array.from(element.children).some((child) => textOf(child) === textOf(element))
      const named = elements.filter((element) => /^\S{1,200}$/.test(textOf(element)))
      return named
        .filter(isInnermost)
        .map(textOf)
        .filter((text) => text.startsWith(base))
    }, base)
    const expected = operations.map(({ path }) => base + path)
    expect(shown.filter((text) => expected.includes(text)).toSorted()).toEqual(expected.toSorted())
  })

  it('begins with the purpose, and a first request with its reply beside it', async () => {
    const page = await openedReference('the server')
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
    const inSight = async (text: string) => {
      const box = await page.locator('.api-info').getByText(text).first().boundingBox()
      const { x = Number.NaN, y = Number.NaN, height = Number.NaN } = box ?? {}
      return { x, isInSight: y >= 0 && y + height <= ordinary.height }
    }
    const purpose = await inSight('Your application calls two operations')
    expect(purpose.isInSight).toBe(true)
    const url = `http://127.0.0.1:3000${contract.servers[0].url}`
    for (const text of [url, 'x-service-key: pk_', `curl ${url}/events/create`, '"success": true']) {
      const beside = await inSight(text)
      expect(beside.isInSight, text).toBe(true)
      expect(beside.x, text).toBeGreaterThan(purpose.x + 300)
    }
    const texts = await page.locator('.api-info p').allTextContents()
    expect(texts.at(-1)).toMatch(/^Version \S+ · MIT licence · openapi.json$/)
  })

  it.each(everyHost)('requests only its own files, on %s', async (host) => {
    expect(requested.get(await openedReference(host))?.toSorted()).toEqual([
      '',
      'icon.svg',
      'mend.js',
      'redoc-search.js',
      'redoc.js',
      'reference.css',
      'reference.json',
      'site.css',
      'start.js',
    ])
  })

  it.each(everyHost)('finds an operation by words of its text, on %s', async (host) => {
    const page = await openedReference(host)
    const search = page.getByPlaceholder('Search')
    for (const { operationId, summary } of operations.slice(-2)) {
      await search.fill(summary)
      await page.locator('[data-role="search:results"]').getByText(summary).first().click()
      await expect.poll(() => page.url()).toMatch(new RegExp(`operation/${operationId}$`))
    }
    await search.fill('')
  })

  it('expands responses and shows their examples', async () => {
    const page = await openedReference('the server')
    const operation = page.locator('[id="operation/createEvent"]')
    await operation.getByRole('button', { name: /^409/ }).click()
    await operation.getByText('Response Headers').first().waitFor()
    await operation.getByRole('tab', { name: '404' }).click()
    await operation.getByText('"/docs/problems#journey_not_found"').waitFor()
  })

  it('shows a request with curl and one with the client for every operation', async () => {
    const page = await openedReference('the server')
    // All at once: each query traverses all of a large page.
    const shown: Record<string, Record<string, string>> = {}
    for (const language of ['curl', 'TypeScript client']) {
      await page.getByRole('tab', { name: language }).evaluateAll((tabs) => {
        for (const tab of tabs as HTMLElement[]) tab.click()
      })
      await expect.poll(() => page.getByRole('tab', { name: language, selected: false }).count()).toBe(0)
      shown[language] = Object.fromEntries(
        await page.locator('[id^="operation/"]').evaluateAll((sections) =>
          sections.map((section) => {
            const samples = Array.from(section.querySelectorAll('pre'), ({ textContent }) => textContent)
            return [section.id.replace('operation/', ''), samples.join('\n')]
          }),
        ),
      )
    }
    for (const { operationId, method, path, security = contract.security } of operations) {
      const opensByKey = security.some((scheme) => 'SecretKey' in scheme)
      const bySession = method === 'get' ? '-b cookies.txt' : "-H 'Origin: http://127.0.0.1:3000'"
      const isOpen = method === 'get' && security.length === 0
      const curl = shown.curl?.[operationId]
      expect(curl).toContain(contract.servers[0].url + path.split('{')[0])
      if (!isOpen) expect(curl).toContain(opensByKey ? '-H "x-service-key: $CAIRN_SERVICE_KEY"' : bySession)
      const client = shown['TypeScript client']?.[operationId]
      expect(client).toContain(`await cairn.${operationId}(`)
      expect(client).toContain(opensByKey ? 'createClient(' : 'createPersonClient(')
    }
  })

  it('runs only scripts from its own files', async () => {
    const page = await openedReference('the server')
    const ran = await page.evaluate(() => {
      document.head.append(
        Object.assign(document.createElement('script'), { text: 'document.title = "ran"' }),
      )
      return document.title === 'ran'
    })
    expect(ran).toBe(false)
    await expect.poll(() => complaints.splice(0)).toEqual([expect.stringContaining("default-src 'self'")])
  })

  it('fits narrow and wide windows', async () => {
    const pages = {
      reference: await openedReference('the server'),
      problems: await open('the server', 'problems'),
      operations: await open('the server', 'operations'),
      monitoring: await open('the server', 'monitoring'),
    }
    for (const [name, page] of Object.entries(pages)) {
      for (const width of [360, 768, 1440]) {
        await page.setViewportSize({ width, height: 800 })
        await expect
          .poll(() => page.evaluate(() => document.documentElement.scrollWidth), { message: name })
          .toBe(width)
        await keepScreenshot(page, `${name}-${width}`)
      }
    }
  })

  it('has no violation that axe finds, apart from colors', async () => {
    expect(await structureViolations(await openedReference('the server'))).toEqual([])
  })

  // The schemes differ only in colors; a narrow window has the same operations, one below the other.
  it.each([
    [1280, 'light', colorViolations],
    [1280, 'dark', colorViolations],
    [360, 'light', axeViolations],
  ] as const)('has nothing that axe finds at %i pixels, %s', async (width, colorScheme, violations) => {
    const look = { viewport: { width, height: 800 }, colorScheme }
    const page = await open(shortReference, '', look)
    // One with fields of fields, a table, headers and every kind of answer.
    const operation = page.locator('[id="operation/createEvents"]')
    for (const name of [/^200/, /^429/]) await operation.getByRole('button', { name }).click()
    await operation.getByText('Response Headers').first().waitFor()
    expect(await violations(page)).toEqual([])
    await keepScreenshot(page, `${width}-${colorScheme}`)
    const explained = await open('the server', 'problems', look)
    // The light scheme is checked for everything else.
    const inScheme = colorScheme === 'dark' ? colorViolations : axeViolations
    expect(await inScheme(explained), 'problems').toEqual([])
  })

  it('follows the scheme that is chosen, also while it is open', async () => {
    const page = await openedReference('the server')
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await contrast(page, '#reference p')).toBeGreaterThan(7)
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(ground === 'rgb(255, 255, 255)').toBe(colorScheme === 'light')
    }
    await page.emulateMedia({ colorScheme: null })
  })

  it.each(['light', 'dark'] as const)(
    'explains problems where the %s scheme is chosen',
    async (colorScheme) => {
      const explained = await open('the server', 'problems#rate_limited', { colorScheme })
      expect(await contrast(explained, 'main p')).toBeGreaterThan(7)
      expect(await contrast(explained, 'main a')).toBeGreaterThan(4.5)
      const ground = await explained.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(ground === 'rgb(255, 255, 255)').toBe(colorScheme === 'light')
    },
  )

  it('opens its contents by keyboard on a phone', async () => {
    const page = await open(shortReference, '', { viewport: { width: 360, height: 800 } })
    const search = page.getByPlaceholder('Search')
    expect(await search.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Contents' }).press('Enter')
    await search.waitFor()
    await page.getByRole('button', { name: 'Contents' }).press(' ')
    await search.waitFor({ state: 'hidden' })
  })

  it.each(everyHost)('has a URL for every operation, on %s', async (host) => {
    const page = await openedReference(host)
    // Repeatedly: Redoc may still overwrite the address with that of the previous section.
    const leadsNowhere = () =>
      page.evaluate(
        (ids) =>
          ids.filter((id) => {
            location.hash = ''
            location.hash = `operation/${id}`
            const header = document.querySelector('header')?.getBoundingClientRect().bottom ?? 0
            const section = document.getElementById(`operation/${id}`)?.getBoundingClientRect()
            return !section || Math.abs(section.top - header) >= 50
          }),
        operations.map(({ operationId }) => operationId),
      )
    await expect.poll(leadsNowhere).toEqual([])
    expect(openedWithin.has(host)).toBe(true)
  })

  it.each(everyHost)('explains every code at the type of its problem, on %s', async (host) => {
    const page = await open(host, 'problems')
    const codes = contract.components.schemas.ProblemCode.enum
    const targets = await page.evaluate(
      (codes) =>
        codes.map((code) => {
          location.hash = code
          const target = document.querySelector(':target')
          const { top = Number.NaN } = target?.getBoundingClientRect() ?? {}
          const header = document.querySelector('header')?.getBoundingClientRect().height ?? Number.NaN
          const isInSight = top >= header && top < innerHeight
          return { id: target?.id, told: target?.textContent.trim(), isInSight }
        }),
      codes,
    )
    const expected = codes.map((code) => {
      const { status, title, detail } = problems[code]
      const told = expect.stringMatching(
        new RegExp(`^${escaped(`${code}\n${status} · ${title}\n${detail}`)}`),
      )
      return { id: code, told, isInSight: true }
    })
    expect(targets).toEqual(expected)
  })

  it('links from the reference to the problems and back, and a problem to the operations that return it', async () => {
    const page = await open(shortReference, '')
    const site = page.getByRole('navigation', { name: 'Site' })
    await site.getByRole('link', { name: 'Problems' }).click()
    await page.getByRole('heading', { name: 'Problems', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'step_not_unique' }).first().click()
    await expect.poll(() => page.locator(':target').getAttribute('id')).toBe('step_not_unique')
    expect(
      await page
        .getByRole('link', { name: 'API reference' })
        .evaluate((link) => (link as HTMLAnchorElement).href),
    ).toBe(sites[shortReference])
    await page.evaluate(() => {
      location.hash = 'message_id_conflict'
    })
    await page.locator(':target').getByRole('link', { name: 'createEvent', exact: true }).click()
    await expect.poll(() => page.url()).toBe(`${sites[shortReference]}#operation/createEvent`)
    await page.locator('[id="operation/createEvent"]').waitFor()
  })

  it.each(everyHost)('has no broken link, on %s', async (host) => {
    for (const page of [await openedReference(host), await open(host, 'problems')]) {
      const links = await page
        .locator('a[href], link[href]')
        .evaluateAll((elements) => elements.map((element) => (element as HTMLAnchorElement).href))
      const own = new Set(
        links.filter((link) => link.startsWith(sites[host])).map((link) => link.replace(/#.*/, '')),
      )
      expect(own.size).toBeGreaterThan(3)
      for (const link of own) expect((await fetch(link)).status, link).toBe(200)
    }
  })

  it.each(everyHost)('offers the contract itself, also without scripts, on %s', async (host) => {
    const page = await open(host, '', { javaScriptEnabled: false })
    const link = page.getByRole('main').getByRole('link', { name: 'openapi.json' })
    expect(await link.isVisible()).toBe(true)
    const [reply] = await Promise.all([page.waitForResponse(/openapi\.json$/), link.click()])
    expect(await reply.json()).toEqual(contract)
  })
})

describe("The operator's guides", () => {
  it.each(everyHost)('are beside the reference, each with links to the others, on %s', async (host) => {
    const page = await open(host, 'problems')
    await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Guides' }).click()
    const shown = page.getByRole('navigation', { name: 'Guides' }).locator('a[href$="/operations"]')
    await expect.poll(() => shown.getAttribute('aria-current')).toBe('page')
    for (const { name, title } of guides) {
      await page.getByRole('navigation', { name: 'Guides' }).locator(`a[href$="/${name}"]`).click()
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    }
  })

  it.each(everyHost)(
    'have every heading of their file, under the anchor that it has there, on %s',
    async (host) => {
      const page = await open(host, 'problems')
      for (const { name, markdown } of guides) {
        await page.goto(sites[host] + name)
        const headings = await page
          .locator('main h2')
          .evaluateAll((found) => found.map(({ id, textContent }) => ({ id, text: textContent })))
        const written = [...markdown.matchAll(/^## (.*)$/gm)].map(([, text = '']) => text)
        expect(headings.map(({ text }) => text)).toEqual(written)
        expect(headings.map(({ id }) => id)).toEqual(
          written.map((text) =>
            text
              .toLowerCase()
              .replaceAll(' ', '-')
              .replace(/[^a-z-]/g, ''),
          ),
        )
      }
    },
  )

  it.each(everyHost)('have no broken link, on %s', async (host) => {
    const ids = new Map<string, Set<string>>()
    const links: string[] = []
    const page = await open(host, 'problems')
    for (const name of ['problems', ...guides.map(({ name }) => name)]) {
      await page.goto(sites[host] + name)
      const found = await page.evaluate(() => ({
        ids: Array.from(document.querySelectorAll('[id]'), ({ id }) => id),
        links: Array.from(document.querySelectorAll('main a[href], nav a[href]'), (link) =>
          link.getAttribute('href'),
        ),
      }))
      ids.set(name, new Set(found.ids))
      links.push(...found.links.map((link) => new URL(link ?? '', page.url()).href))
    }
    ids.set('', new Set(operations.map(({ operationId }) => `operation/${operationId}`)))
    const own = links
      .filter((link) => link.startsWith(sites[host]))
      .map((link) => link.slice(sites[host].length))
    expect(own).toContain('#operation/eraseCustomer')
    expect(own.map((link) => link.replace('/#', '#'))).toContain('backup-and-restore#restore')
    const lost = own.filter((link) => {
      const [path = '', fragment] = link.split('#')
      const name = path.replace(/\/$/, '')
      return fragment === undefined
        ? !ids.has(name) && name !== 'openapi.json'
        : !ids.get(name)?.has(fragment)
    })
    expect(lost).toEqual([])
  })

  it.each(guides)('have nothing that axe finds, wide and narrow, light and dark: $name', async ({ name }) => {
    const page = await open('the server', name)
    for (const [width, colorScheme, violations] of [
      [1280, 'light', axeViolations],
      [1280, 'dark', colorViolations],
      [360, 'light', axeViolations],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      expect(await violations(page), `${width}, ${colorScheme}`).toEqual([])
      await keepScreenshot(page, `${name}-${width}-${colorScheme}`)
    }
  })
})

/** A drawn symbol, by the text of its element, with its color and that of its background. */
type Sign = { of: string; color: string; ground: string }

describe('A symbol in the API reference', () => {
  it.each(['light', 'dark'] as const)('has enough contrast: chevrons and others, %s', async (colorScheme) => {
    const page = await openedReference('the server')
    await page.emulateMedia({ colorScheme })
    const signs = await page.locator('#reference svg').evaluateAll((drawn): Sign[] => {
      const isClear = (color: string) => /^transparent$|^rgba\(.*, 0\)$|\/ 0\)$/.test(color)
      const groundOf = (element: Element | null): string => {
        if (!element) return 'rgb(255, 255, 255)'
        const { backgroundColor } = getComputedStyle(element)
        return isClear(backgroundColor) ? groundOf(element.parentElement) : backgroundColor
      }
      const shapesOf = (svg: Element) => Array.from(svg.querySelectorAll('polygon, path'))
      return drawn
        .filter((svg) => svg.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .filter((svg) => svg.getBoundingClientRect().width > 0)
        .flatMap((svg) =>
          shapesOf(svg).map((shape) => {
            const of = `${svg.parentElement?.tagName} ${svg.parentElement?.textContent?.slice(0, 40)}`
            return { of, color: getComputedStyle(shape).fill, ground: groundOf(svg) }
          }),
        )
        .filter(({ color }) => color !== 'none' && !isClear(color))
    })
    await page.emulateMedia({ colorScheme: null })
    expect(signs.length).toBeGreaterThan(100)
    const faint = signs.filter(({ color, ground }) => contrastOf(color, ground) < 3)
    // One of each kind.
    expect([...new Map(faint.map((sign) => [`${sign.color} ${sign.ground}`, sign])).values()]).toEqual([])
  })
})

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

async function open(host: Host, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: ordinary, ...options })
  page.setDefaultTimeout(withPatience.timeout)
  opened.push(page)
  const asked: string[] = []
  requested.set(page, asked)
  page.on('request', (request) => {
    if (request.url().startsWith(sites[host])) asked.push(request.url().slice(sites[host].length))
    else complaints.push(`asks for ${request.url()}`)
  })
  page.on('requestfailed', (request) => {
    // Aborted by a page that was left.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`does not get ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`gets ${response.status()} for ${response.url()}`)
  })
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(sites[host] + path)
  return page
}

/** The reference as other tests have left it: partly unfolded, and scrolled. */
async function openedReference(host: Host): Promise<Page> {
  const known = references.get(host)
  if (known) return known
  // By the URL of its last operation, which must lead there.
  const page = await open(host, `#operation/${operations.at(-1)?.operationId}`)
  references.set(host, page)
  await rendered(page)
  const top = () =>
    page.evaluate(() => document.querySelector('[id^="operation/"]')?.getBoundingClientRect().top)
  await expect.poll(top).toBeLessThan(0)
  openedWithin.add(host)
  return page
}

async function keepScreenshot(page: Page, name: string) {
  if (!keepsScreenshots) return
  await page.screenshot({ path: join('dist', 'screenshots', `docs-${name}.png`) })
}

async function rendered(page: Page) {
  await page.locator(`[id="operation/${operations.at(-1)?.operationId}"]`).waitFor()
}

/** The contrast of an element's text with the page's background according to WCAG 2: from 1 to 21. */
async function contrast(page: Page, selector: string) {
  const colors = await page
    .locator(selector)
    .first()
    .evaluate((element) => [getComputedStyle(element).color, getComputedStyle(document.body).backgroundColor])
  return contrastOf(...(colors as [string, string]))
}

function contrastOf(...colors: [string, string]): number {
  const [dark = 0, light = 0] = colors.map(luminance).sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(rgb: string) {
  const [red = 0, green = 0, blue = 0] = (rgb.match(/\d+/g) ?? []).map((channel) => {
    const part = Number(channel) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Writes the site with a reference of the operations of `everyKind`. */
function writeShortReference(folder: string) {
  cpSync(written, folder, { recursive: true })
  const file = join(folder, 'reference.json')
  const { paths, ...others }: Contract = JSON.parse(readFileSync(file, 'utf8'))
  const few = Object.entries(paths).flatMap(([path, methods]) => {
    const kept = Object.entries(methods).filter(([, { operationId }]) => everyKind.includes(operationId))
    return kept.length > 0 ? [[path, Object.fromEntries(kept)]] : []
  })
  writeFileSync(file, JSON.stringify({ ...others, paths: Object.fromEntries(few) }))
}

/** Serves the folders like static hosts: a folder by its index.html, with a trailing slash. */
function serveFiles({ url = '' }: IncomingMessage, response: ServerResponse) {
  const contentTypes = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
    json: 'application/json',
    svg: 'image/svg+xml',
  }
  const served = Object.entries(folders).find(([base]) => url.startsWith(base))
  const path = served && join(served[1], url.replace(served[0], ''))
  if (!path || !existsSync(path)) return response.writeHead(404).end()
  const isFolder = statSync(path).isDirectory()
  if (isFolder && !url.endsWith('/')) return response.writeHead(301, { Location: `${url}/` }).end()
  const file = isFolder ? join(path, 'index.html') : path
  const type = Object.entries(contentTypes).find(([extension]) => file.endsWith(`.${extension}`))
  if (type) response.setHeader('Content-Type', type[1])
  response.setHeader('Content-Security-Policy', sitePolicy)
  response.end(readFileSync(file))
}
