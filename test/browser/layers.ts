import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** What opens above a page: menus, lists of choices, dialogs. */
const layers = '[role=menu], [role=listbox], [role=dialog]'

/** The elements that open one. */
const openers =
  'button[aria-haspopup]:not([aria-disabled=true]), input[aria-haspopup=listbox]:not([readonly])'

/** Both sides of the width at which the navigation folds, and a phone. */
const widths = [1280, 768, 390]

/** Fails if something covers an open layer, in viewports of several widths. */
export async function expectLayersUncovered(page: Page, where: string): Promise<void> {
  if (!(await hasLayer(page))) return
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    await drawn(page)
    expect(await covered(page), `${where} at ${width} px`).toEqual([])
  }
}

/**
 * Opens and inspects each menu and list of choices of a screen.
 * @param seen the names of those that were inspected on other screens
 */
export async function inspectLayers(page: Page, where: string, seen: Set<string>): Promise<void> {
  for (const [index, name] of (await openersOf(page)).entries()) {
    // The actions of a row are the same in every row.
    const kind = name.replace(/^(Actions for) .*/s, '$1')
    if (seen.has(kind)) continue
    const opener = page.locator(openers).nth(index)
    if (!(await opener.isVisible())) continue
    seen.add(kind)
    await opener.click()
    await expect.poll(() => hasLayer(page), { message: name }).toBe(true)
    await expectLayersUncovered(page, `${where}: ${name}`)
    await page.keyboard.press('Escape')
    await expect.poll(() => hasLayer(page), { message: name }).toBe(false)
    await page.setViewportSize({ width: 1440, height: 900 })
    await drawn(page)
  }
}

function openersOf(page: Page): Promise<string[]> {
  return page
    .locator(openers)
    .evaluateAll((found) =>
      found.map(
        (opener) =>
          opener.getAttribute('aria-label') ??
          (opener instanceof HTMLInputElement ? opener.labels?.[0]?.textContent : opener.textContent) ??
          '',
      ),
    )
}

async function hasLayer(page: Page): Promise<boolean> {
  return (await page.locator(layers).filter({ visible: true }).count()) > 0
}

/** Waits for the next frame, in which listeners of the window draw. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise((resolve) => requestAnimationFrame(resolve))
  })
}

/** Returns what a click would hit instead of an item of a layer, at its centre and near each side. */
function covered(page: Page): Promise<string[]> {
  return page.evaluate((layers) => {
    const items = ['[role^=menuitem]', '[role=option]', 'button', 'a[href]', 'input', 'textarea', 'select']
    const isSeen = (element: Element) => {
      const { width, height } = element.getBoundingClientRect()
      return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true })
    }
    const found: string[] = []
    const seen = [...document.querySelectorAll(layers)].filter(isSeen)
    // A confirmation dialog covers the one that opened it.
    const topDialog = seen.findLast((layer) => layer.matches('[role=dialog]'))
    for (const layer of seen) {
      if (layer.matches('[role=dialog]') && layer !== topDialog) continue
      for (const item of layer.querySelectorAll(items.join())) {
        if (!isSeen(item)) continue
        item.scrollIntoView({ block: 'nearest', inline: 'nearest' })
        const { left, right, top, bottom } = item.getBoundingClientRect()
        const [x, y] = [(left + right) / 2, (top + bottom) / 2]
        const points = [
          [x, y],
          [left + 2, y],
          [right - 2, y],
          [x, top + 2],
          [x, bottom - 2],
        ] as const
        for (const [x, y] of points) {
          const hit = document.elementFromPoint(x, y)
          if (hit?.closest(layers)) continue
          const name = item.getAttribute('aria-label') ?? item.textContent
          const other = hit ? `<${hit.localName}> ${hit.textContent.trim().slice(0, 40)}` : 'nothing'
          found.push(`${name} at ${Math.round(x)},${Math.round(y)} is under ${other}`)
        }
      }
    }
    return found
  }, layers)
}
