import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Which parts of a page axe looks at, as selectors; all of it without them. */
type Parts = string[] | undefined

const everyRule: axe.RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}

/** What the colors of a page decide. */
const colorRules = ['color-contrast', 'link-in-text-block']

/** What axe finds against WCAG 2.2 AA and best practice: the rule, what it asks for, and where. */
export function axeViolations(page: Page, parts?: Parts): Promise<string[]> {
  return violationsOf(page, { runOnly: everyRule }, parts)
}

/** The same but for what the colors decide: to tell those of a large page takes most of the time. */
export function structureViolations(page: Page): Promise<string[]> {
  const rules = Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }]))
  return violationsOf(page, { runOnly: everyRule, rules }, undefined)
}

/** The same for what the colors decide, where the rest of a page has been looked at. */
export function colorViolations(page: Page, parts?: Parts): Promise<string[]> {
  return violationsOf(page, { runOnly: { type: 'rule', values: colorRules } }, parts)
}

async function violationsOf(page: Page, options: axe.RunOptions, parts: Parts): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate(
    async ({ options, parts }) => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
      // What it would load in advance is for the orientation of a screen and for media: rules that we do not ask for, and
      // that have nothing to look at here.
      return await axe.run(parts ?? document, { resultTypes: ['violations'], preload: false, ...options })
    },
    { options, parts },
  )
  return violations.flatMap(({ id, nodes }: axe.Result) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
