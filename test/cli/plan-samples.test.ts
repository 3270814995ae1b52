// engines: sqlite, postgres

import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { runCairn } from '../fixtures/command.ts'
import { initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'

type Sample = { event_id: string; custom_variables: Record<string, unknown> }

/** Events of applications that follow public vocabularies: what fits, and what a developer gets wrong in each. */
const samples: Record<
  string,
  { events: number; fitting: Sample[]; wrong: [Sample, violations: string[]][] }
> = {
  'shop.yaml': {
    events: 4,
    fitting: [
      {
        event_id: 'Order Completed',
        custom_variables: {
          order_id: '50314b8e9bcf000000000000',
          total: 27.5,
          currency: 'USD',
          products: [
            {
              product_id: '507f1f77bcf86cd799439011',
              price: 19,
              quantity: 1,
              url: 'https://shop.example.com/p/1',
            },
            { product_id: '505bd76785ebb509fc183733', name: 'Uno Card Game' },
          ],
        },
      },
      { event_id: 'Product Viewed', custom_variables: { product_id: '507f', price: 18.99, shelf: 'new' } },
    ],
    wrong: [
      [
        {
          event_id: 'Order Completed',
          custom_variables: { order_id: '1', currency: 'dollars', products: [{ price: '19' }] },
        },
        ['out_of_bounds /currency', 'missing /products/0/product_id', 'wrong_type /products/0/price'],
      ],
      [
        { event_id: 'Product Viewed', custom_variables: { product_id: '1', image_url: '/images/1.jpg' } },
        ['wrong_format /image_url'],
      ],
    ],
  },
  'player.yaml': {
    events: 2,
    fitting: [
      {
        event_id: 'Video Playback Started',
        custom_variables: {
          session_id: '12345',
          content_asset_ids: ['0129370'],
          sound: 88,
          framerate: 23.976,
        },
      },
    ],
    wrong: [
      [
        {
          event_id: 'Video Playback Started',
          custom_variables: {
            session_id: '1',
            sound: 101,
            full_screen: 'yes',
            ad_type: 'banner',
            position: 1.5,
          },
        },
        ['not_in_enum /ad_type', 'out_of_bounds /sound', 'wrong_type /full_screen', 'wrong_type /position'],
      ],
    ],
  },
  'accounts.yaml': {
    events: 3,
    fitting: [
      { event_id: 'Signed Up', custom_variables: { type: 'invite', email: 'ada@example.com', phone: null } },
      { event_id: 'Trial Started', custom_variables: { trial_start_date: '2026-11-20' } },
    ],
    wrong: [
      [
        { event_id: 'Signed Up', custom_variables: { e_mail: 'ada@example.com', email: 'ada' } },
        ['unexpected /e_mail', 'wrong_format /email'],
      ],
      [
        { event_id: 'Account Created', custom_variables: { accountName: 'Acme' } },
        ['missing /account_name', 'unexpected /accountName'],
      ],
    ],
  },
}

describe('a tracking plan after a public vocabulary', () => {
  it.for(Object.entries(samples))(
    '%s',
    async ([name, { events, fitting, wrong }], { cairn, workspace, client }) => {
      const file = fileURLToPath(new URL(`plans/${name}`, import.meta.url))
      const args = ['plan', 'push', file, '--base-url', `${cairn.url}/v1`]
      const pushed = await runCairn(args, { environment: { CAIRN_SERVICE_KEY: workspace.secret_key } })
      expect(pushed).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n${events} changes\n`) })
      const customer_id = await initialize(workspace, 'user-1')
      const of = { journey_id: workspace.journey_id, customer_id }
      for (const sample of fitting) {
        const { data } = await client.createEvent({ body: { ...of, ...sample } })
        expect(data).toMatchObject({ success: true })
        expect(data).not.toHaveProperty('warnings')
      }
      for (const [sample, violations] of wrong) {
        const { error } = await client.createEvent({ body: { ...of, ...sample } })
        expect(error?.code).toBe('event_not_as_defined')
        const found = error?.errors?.map((fault) => `${'code' in fault ? fault.code : ''} ${fault.pointer}`)
        expect(found?.sort()).toEqual(
          violations.map((text) => text.replace(' /', ' /custom_variables/')).sort(),
        )
      }
    },
  )
})
