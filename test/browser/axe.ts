import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Which parts of a page axe looks at, as selectors; all of it without them. */
type Parts = string[] | undefined

/** What axe finds against WCAG 2.2 AA and best practice: the rule, what it asks for, and where. */
export function axeViolations(page: Page, parts?: Parts): Promise<string[]> {
  const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  return violationsOf(page, { type: 'tag', values }, parts)
}

/** The same for what the colors of a page decide, where the rest of it has been looked at in another color scheme. */
export function colorViolations(page: Page, parts?: Parts): Promise<string[]> {
  return violationsOf(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }, parts)
}

async function violationsOf(page: Page, runOnly: axe.RunOnly, parts: Parts): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate(
    async ({ runOnly, parts }) => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
      return await axe.run(parts ?? document, { resultTypes: ['violations'], runOnly })
    },
    { runOnly, parts },
  )
  return violations.flatMap(({ id, nodes }: axe.Result) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
