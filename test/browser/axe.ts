import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const everyRule: axe.RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}

/** The rules that depend on colors. */
const colorRules = ['color-contrast', 'link-in-text-block']

/** Returns the violations of WCAG 2.2 AA and best practice: rule, requirement and elements. */
export function axeViolations(page: Page): Promise<string[]> {
  return violationsOf(page, { runOnly: everyRule })
}

/** The same without the rules for colors, which take most of the time on a large page. */
export function structureViolations(page: Page): Promise<string[]> {
  const rules = Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }]))
  return violationsOf(page, { runOnly: everyRule, rules })
}

/** The same for colors only, if the rest of the page has been inspected. */
export function colorViolations(page: Page): Promise<string[]> {
  return violationsOf(page, { runOnly: { type: 'rule', values: colorRules } })
}

async function violationsOf(page: Page, options: axe.RunOptions): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    // What it would preload is for rules about screen orientation and media, which we do not use, and
    // that have nothing to look at here.
    return await axe.run(document, { resultTypes: ['violations'], preload: false, ...options })
  }, options)
  return violations.flatMap(({ id, nodes }: axe.Result) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
