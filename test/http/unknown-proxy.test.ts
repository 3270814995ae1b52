// engines: sqlite (settled before the store is asked for more than the key)

import { describe, expect, it } from 'vitest'
import { type Cairn, type CairnOptions, startCairnForTest } from '../cairn.ts'
import { send } from './requests.ts'

/** What the log says of proxies. */
function warnings({ log }: Cairn) {
  return log.filter(({ msg }) => String(msg).includes('CAIRN_TRUSTED_PROXIES'))
}

const many = Array.from({ length: 20 }, (_, n) => ({ 'user-agent': `Browser/${n}` }))

describe('the log says once that a proxy seems to be unknown', () => {
  it.each<[name: string, CairnOptions, Record<string, string>[]]>([
    ['which says for whom it asks', {}, [{ 'x-forwarded-for': '203.0.113.7' }]],
    ['before a page of https', {}, [{ host: 'cairn.example.com', origin: 'https://cairn.example.com' }]],
    [
      'before a page of https, with the port',
      {},
      [{ host: 'CAIRN.example.com:443', origin: 'https://cairn.example.com' }],
    ],
    [
      'at the public address, with the port',
      { publicUrl: 'https://cairn.example.com' },
      [{ host: 'cairn.example.com:443' }],
    ],
    ['at the public address', { publicUrl: 'https://cairn.example.com' }, [{ host: 'cairn.example.com' }]],
    ['behind which many programs ask', {}, many],
  ])('%s', async (_name, options, requests) => {
    const cairn = await startCairnForTest(options)
    for (const headers of [...requests, ...requests]) await send(cairn, 'GET /journeys', { headers })
    expect(warnings(cairn)).toMatchObject([{ level: 40, address: '127.0.0.1' }])
  })
})

describe('the log says nothing', () => {
  it.each<[name: string, CairnOptions, Record<string, string>[]]>([
    [
      'of a proxy that is named and adds its header',
      { trustedProxies: ['127.0.0.1'] },
      many.map((headers, n) => ({ ...headers, 'x-forwarded-for': `203.0.113.${n}` })),
    ],
    ['of a page of another origin', {}, [{ origin: 'https://app.example.com' }]],
    ['of a few programs', {}, many.slice(1)],
    [
      'of a health check by address',
      { publicUrl: 'https://cairn.example.com' },
      [{ host: '127.0.0.1:3000' }],
    ],
  ])('%s', async (_name, options, requests) => {
    const cairn = await startCairnForTest(options)
    for (const headers of requests) await send(cairn, 'GET /journeys', { headers })
    expect(warnings(cairn)).toEqual([])
  })
})
