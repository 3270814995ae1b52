// engines: sqlite (settled before the store is asked for more than the key)

import { beforeAll, describe, expect, it } from 'vitest'
import { readGuides } from '../../server/docs/guides.ts'
import type { Cairn } from '../fixtures/cairn.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'

let cairn: Cairn

beforeAll(async () => {
  cairn = await sharedCairn()
})

const paths = [
  '/docs/',
  '/docs/redoc.js',
  '/docs/reference.json',
  '/docs/problems',
  '/docs/operations',
  '/v1/openapi.yaml',
]

/** How much of its size a file that is compressed may have, if it repeats itself less than the others. */
const largestShares: Record<string, number> = { '/docs/redoc.js': 0.32, '/docs/operations': 0.4 }

async function get(path: string, headers: Record<string, string>) {
  const response = await fetch(cairn.url + path, { headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}

describe('a file of the API reference', () => {
  it.each(['br', 'gzip'])('is sent as %s to clients that accept it, and is the same file', async (coding) => {
    for (const path of paths) {
      const plain = await get(path, { 'accept-encoding': 'identity' })
      const { headers, text } = await get(path, { 'accept-encoding': coding })
      expect(plain.headers.get('content-encoding'), path).toBeNull()
      expect(text, path).toBe(plain.text)
      if (path === '/docs/') continue
      expect(headers.get('content-encoding'), path).toBe(coding)
      const share = Number(headers.get('content-length')) / Buffer.byteLength(text)
      expect(share, path).toBeLessThan(largestShares[path] ?? 0.25)
    }
  })

  it('is sent uncompressed to clients that refuse every coding or accept none that is supported', async () => {
    for (const accepted of ['br;q=0, gzip;q=0', 'zstd', '']) {
      const { headers } = await get('/docs/redoc.js', { 'accept-encoding': accepted })
      expect(headers.get('content-encoding'), accepted).toBeNull()
    }
  })

  it('is revalidated at every visit and sent once', async () => {
    for (const path of paths) {
      for (const coding of ['br', 'gzip', 'identity']) {
        const first = await get(path, { 'accept-encoding': coding })
        const etag = first.headers.get('etag') ?? ''
        expect(Object.fromEntries(first.headers), path).toMatchObject({
          etag: expect.stringMatching(/^"[\w-]+"$/),
          'cache-control': 'no-cache',
          vary: 'Accept-Encoding',
        })
        for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
          const again = await get(path, { 'accept-encoding': coding, 'if-none-match': known })
          expect([again.status, again.text, again.headers.get('etag')], path).toEqual([304, '', etag])
          // Browsers use the headers of a 304 in place of those they have cached.
          const policy = 'content-security-policy'
          expect(again.headers.get(policy), path).toBe(first.headers.get(policy))
        }
        const changed = await get(path, { 'accept-encoding': coding, 'if-none-match': '"other"' })
        expect([changed.status, changed.text], path).toEqual([200, first.text])
      }
    }
  })

  it('is named in the log if it is a guide', async () => {
    const guides = readGuides().map(({ name }) => `/docs/${name}`)
    for (const path of guides) expect((await get(path, {})).status, path).toBe(200)
    const logged = () => cairn.log.map(({ path }) => path)
    await expect.poll(logged).toEqual(expect.arrayContaining(guides))
  })

  it('has a different ETag in every coding', async () => {
    const tags = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (coding) =>
        (await get('/docs/redoc.js', { 'accept-encoding': coding })).headers.get('etag'),
      ),
    )
    expect(new Set(tags).size).toBe(3)
  })
})
