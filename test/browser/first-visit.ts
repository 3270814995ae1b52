import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Checks the size limit of a first visit, and a minimum, below which nothing was measured. */
export function expectSmall(bytes: number) {
  expect(bytes).toBeLessThan(250_000)
  expect(bytes).toBeGreaterThan(50_000)
}

/** Everything that the page has requested since it was opened, including itself. */
export function loadedUrls(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type).map(({ name }) => name)),
  )
}

/** The paths of the interface's files among them. */
export async function loadedFiles(page: Page): Promise<string[]> {
  const paths = (await loadedUrls(page)).map((url) => new URL(url).pathname)
  return [...new Set(paths)].filter((path) => path.startsWith('/admin/'))
}

/** The size of a file of the interface as the server sends it with gzip, in bytes. */
export function sizeOf(path: string): number {
  const file = `dist${path}`
  return [`${file}.gz`, file].filter((file) => existsSync(file)).map((file) => statSync(file).size)[0] ?? 0
}

/**
 * Fails if a first visit is too large in a coding, or not sent in it. Requests the files itself, because browsers do not
 * accept brotli without TLS.
 */
export async function expectSmallIn(coding: string, urls: string[], headers: Record<string, string>) {
  let total = 0
  const files = new Set<string>()
  const codings = new Set<string | undefined>()
  for (const url of new Set(urls)) {
    const request = get(url, { headers: { ...headers, 'accept-encoding': coding } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    for await (const chunk of response) total += chunk.length
    if (!new URL(url).pathname.startsWith('/admin/')) continue
    files.add(url)
    codings.add(response.headers['content-encoding'])
  }
  expectSmall(total)
  expect(files.size).toBeLessThan(30)
  expect([...codings].filter(Boolean)).toEqual([coding])
}
