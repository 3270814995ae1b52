import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds against WCAG 2.2 AA and best practice: the rule, what it asks for, and where. */
export function axeViolations(page: Page): Promise<string[]> {
  const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  return violationsOf(page, { type: 'tag', values })
}

/** The same for what the colors of a page decide, where the rest of it has been looked at in another color scheme. */
export function colorViolations(page: Page): Promise<string[]> {
  return violationsOf(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] })
}

async function violationsOf(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    return await axe.run(document, { resultTypes: ['violations'], runOnly })
  }, runOnly)
  return violations.flatMap(({ id, nodes }: axe.Result) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
