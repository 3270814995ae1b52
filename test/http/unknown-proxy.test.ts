// engines: sqlite (settled before the store is asked for more than the key)

import { describe, expect, it } from 'vitest'
import { type Cairn, startCairnForTest } from '../fixtures/cairn.ts'
import { send } from '../fixtures/requests.ts'

/** Log entries about proxies. */
function warnings({ log }: Cairn) {
  return log.filter(({ msg }) => String(msg).includes('CAIRN_TRUSTED_PROXIES'))
}

describe('the log warns of a proxy that is not configured', () => {
  it.each([[{ 'x-forwarded-for': '203.0.113.7' }], [{ forwarded: 'for=203.0.113.7' }]])(
    'once, where a request has %o',
    async (headers) => {
      const cairn = await startCairnForTest()
      await send(cairn, 'GET /journeys')
      expect(warnings(cairn)).toEqual([])
      for (let times = 0; times < 2; times++) await send(cairn, 'GET /journeys', { headers })
      expect(warnings(cairn)).toMatchObject([{ level: 40, address: '127.0.0.1' }])
    },
  )

  it('not if one is configured', async () => {
    const cairn = await startCairnForTest({ trustedProxies: ['127.0.0.1'] })
    await send(cairn, 'GET /journeys', { headers: { 'x-forwarded-for': '203.0.113.7' } })
    expect(warnings(cairn)).toEqual([])
  })
})
