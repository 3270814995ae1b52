// engines: sqlite (settled before the store is asked for more than the key)

import { beforeAll, describe, expect, it } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { send } from '../fixtures/requests.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
})

const hardened = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'cross-origin-opener-policy': 'same-origin',
}

describe('every reply', () => {
  it('keeps browsers from sniffing, framing and caching', async () => {
    for (const [line, sent] of [
      ['GET /journeys', { key: workspace.secret_key }],
      ['GET /events/export', { key: workspace.secret_key }],
      ['GET /journeys', {}],
      ['POST /events/create', { key: workspace.publishable_key, body: '{' }],
      ['GET /nowhere', {}],
      ['GET /customers/%zz', {}],
      ['PUT /events', {}],
    ] as const) {
      const { headers } = await send(cairn, line, sent)
      expect(Object.fromEntries(headers)).toMatchObject({
        ...hardened,
        'content-security-policy': "default-src 'none'",
        'cache-control': 'no-store',
      })
    }
  })

  it('is hardened outside the operations as well, and names no product', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/metrics',
      '/admin/',
      '/v1/openapi.yaml',
      '/docs/',
      '/docs',
      '/nowhere',
      '/v1/journeys',
    ]) {
      const { headers } = await fetch(cairn.url + path, { redirect: 'manual' })
      expect(Object.fromEntries(headers)).toMatchObject({
        ...hardened,
        'content-security-policy': expect.stringMatching(/^default-src '(none|self)'/),
      })
      expect(headers.has('x-powered-by')).toBe(false)
      expect(headers.has('server')).toBe(false)
    }
  })

  it('lets a page of the interface run only Cairn’s own scripts, in no frame', async () => {
    for (const path of ['/admin/', '/admin/sign-in', '/admin/w/wsp_1/journeys']) {
      const policy = (await fetch(`${cairn.url}${path}`)).headers.get('content-security-policy') ?? ''
      const directives = new Map(
        policy.split(';').map((directive) => {
          const [name = '', ...values] = directive.trim().split(/\s+/)
          return [name, values.join(' ')]
        }),
      )
      expect(directives.get('script-src') ?? directives.get('default-src'), path).toBe("'self'")
      expect(directives.get('frame-ancestors'), path).toBe("'none'")
      expect(directives.get('base-uri'), path).toBe("'none'")
    }
  })
})
