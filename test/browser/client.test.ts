// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TrackedEvent, Tracker, TrackerOptions } from '../../client/index.ts'
import { bundleForBrowser } from '../fixtures/bundle.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { createKey } from '../fixtures/service-keys.ts'
import { sharedChromium } from './chromium.ts'

declare global {
  /** The client in a page. */
  var cairnClient: typeof import('../../client/index.ts')
  /** The tracker of a page that is about to be left. */
  var tracker: Tracker
}

const page = `<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
  import * as cairnClient from '/cairn.js'
  globalThis.cairnClient = cairnClient
</script>`

/** A customer's website, on an origin other than Cairn's. */
let site: Server
let origin: string
let browser: Browser
let context: BrowserContext
let cairn: Cairn
let workspace: Workspace
/** Options of a client or a tracker in a page. */
let options: Pick<TrackerOptions, 'baseUrl' | 'serviceKey' | 'customer'>

beforeAll(async () => {
  const script = await bundleForBrowser('client/index.ts')
  site = createServer((request, response) => {
    const [type, content] = request.url === '/cairn.js' ? ['text/javascript', script] : ['text/html', page]
    response.writeHead(200, { 'content-type': type }).end(content)
  })
  await once(site.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  cairn = await startCairn()
  browser = await sharedChromium()
})

afterAll(async () => {
  await cairn?.stop()
  site.close()
})

beforeEach(async () => {
  context = await browser.newContext()
  workspace = await cairn.workspace()
  options = optionsFor(cairn, workspace)
})

afterEach(() => context.close())

function optionsFor({ url }: Cairn, { journey_id, publishable_key }: Workspace) {
  return {
    baseUrl: `${url}/v1`,
    serviceKey: publishable_key,
    customer: {
      client_customer_id: 'user-8412',
      journey_id,
      customer_type: 'contact' as const,
      customer_name: 'Ada Lovelace',
    },
  }
}

async function openPage(url = origin): Promise<Page> {
  const opened = await context.newPage()
  await opened.goto(url)
  return opened
}

/** The `message_id`s of the events that Cairn has stored. */
async function storedMessageIds(): Promise<(string | null)[]> {
  const { data } = await workspace.client.listEvents({ query: { limit: 500 } })
  return data?.data.map(({ message_id }) => message_id).toSorted() ?? []
}

describe('a page of another origin', () => {
  it('initializes a customer and stores an event after a preflight each', async () => {
    const opened = await openPage()
    const seen = cairn.log.length

    const [initialized, created] = await opened.evaluate(async ({ customer, ...options }) => {
      const client = cairnClient.createClient(options)
      const initialized = await client.initializeCustomer({ body: customer })
      const { journey_id } = customer
      const customer_id = initialized.data?.customer_id ?? ''
      const created = await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
      return [initialized.data, created.data]
    }, options)

    const { data } = await workspace.client.listEvents()
    expect(initialized?.created).toBe(false)
    expect(data?.data).toMatchObject([
      { id: created?.id, customer_id: initialized?.customer_id, event_id: 'signed_up' },
    ])
    const requests = cairn.log.slice(seen).map(({ method, operation, status }) => [method, operation, status])
    expect(requests.slice(0, 4)).toEqual([
      ['OPTIONS', undefined, 204],
      ['POST', 'initializeCustomer', 200],
      ['OPTIONS', undefined, 204],
      ['POST', 'createEvent', 201],
    ])
  })

  it('can read that its origin is not allowed, if the key lists others', async () => {
    const { key } = await createKey(cairn, workspace, 'publishable', { allowed_origins: [origin] })
    const elsewhere = origin.replace('127.0.0.1', 'localhost')
    const initialize = async (from: string) => {
      const opened = await openPage(from)
      return opened.evaluate(
        async ({ customer, ...options }) => {
          const { data, error } = await cairnClient
            .createClient(options)
            .initializeCustomer({ body: customer })
          return { stored: data !== undefined, status: error?.status, code: error?.code }
        },
        { ...options, serviceKey: key },
      )
    }

    expect(await initialize(origin)).toEqual({ stored: true })
    expect(await initialize(elsewhere)).toEqual({ stored: false, status: 403, code: 'origin_not_allowed' })
  })

  it('can read that its key is not valid', async () => {
    const opened = await openPage()

    const error = await opened.evaluate(
      async ({ customer, ...options }) => {
        const { error } = await cairnClient.createClient(options).initializeCustomer({ body: customer })
        return error
      },
      { ...options, serviceKey: 'pk_wrong' },
    )

    expect(error).toMatchObject({ status: 401, code: 'unauthorized', request_id: expect.any(String) })
  })

  it('can read that it is rate limited, and when to retry', async () => {
    const stopped = await startCairnForTest({ now: () => 0, rateLimit: 1 })
    const opened = await openPage()

    const refusal = await opened.evaluate(
      async ({ customer, ...options }) => {
        const client = cairnClient.createClient({ ...options, retries: 0 })
        const initialize = () => client.initializeCustomer({ body: customer })
        await initialize()
        await initialize()
        const { error, response } = await initialize()
        return { code: error?.code, retryAfter: response.headers.get('retry-after') }
      },
      optionsFor(stopped, await stopped.workspace()),
    )

    // Half of the burst is reserved for others, and is filled first.
    expect(refusal).toEqual({ code: 'rate_limited', retryAfter: '2' })
  })

  it('stores an event while another script has used up what browsers send after a page', async () => {
    const opened = await openPage()
    await opened.route('**/never-answered', () => {})

    const created = await opened.evaluate(async ({ customer, ...options }) => {
      const client = cairnClient.createClient(options)
      const { data } = await client.initializeCustomer({ body: customer })
      void fetch('/never-answered', { method: 'POST', body: 'x'.repeat(65_536), keepalive: true })
      const { journey_id } = customer
      const body = { journey_id, customer_id: data?.customer_id ?? '', event_id: 'signed_up' }
      return (await client.createEvent({ body })).data?.success
    }, options)

    expect(created).toBe(true)
  })

  it('reports an unhandled rejected event, flushed or not', async () => {
    const opened = await openPage()

    const reported = await opened.evaluate(
      async (options) => {
        const rejection = new Promise<string>((resolve) => {
          addEventListener('unhandledrejection', ({ reason }) => resolve(reason.name))
        })
        const tracker = cairnClient.createTracker({ ...options, retries: 0 })
        void tracker.track('signed_up')
        await tracker.flush()
        return await rejection
      },
      // Nothing listens there, and browsers refuse to try.
      { ...options, baseUrl: 'http://127.0.0.1:1/v1' },
    )

    expect(reported).toBe('TypeError')
  })
})

describe('a page that is left', () => {
  /** What a page tracks as its last act, and which of these events its `handOver` returned. */
  type LastAct = { tracked: TrackedEvent[]; left: TrackedEvent[] }

  /** Opens a page whose customer is initialized and which tracks the events when the page is left. */
  async function pageThatTracks(events: { count: number; size_bytes: number }): Promise<Page> {
    const opened = await openPage()
    await opened.evaluate(
      async ({ options, count, size_bytes }) => {
        globalThis.tracker = cairnClient.createTracker(options)
        await tracker.initialization()
        addEventListener('pagehide', () => {
          const tracked = Array.from({ length: count }, (_, index) => ({
            event_id: `step_${index}`,
            custom_variables: 'x'.repeat(size_bytes),
            message_id: `m-${index}`,
          }))
          for (const { event_id, custom_variables, ...rest } of tracked) {
            tracker.track(event_id, custom_variables, rest)
          }
          localStorage.setItem('lastAct', JSON.stringify({ tracked, left: tracker.handOver() }))
        })
      },
      { options, ...events },
    )
    return opened
  }

  /** What the closed page has recorded. */
  async function lastAct(opened: Page): Promise<LastAct> {
    return JSON.parse(await opened.evaluate(() => localStorage.getItem('lastAct') ?? ''))
  }

  const messageIds = (events: TrackedEvent[]) => events.map(({ message_id }) => message_id)

  it('for another page has its last events stored', async () => {
    const opened = await pageThatTracks({ count: 5, size_bytes: 10 })

    await opened.goto(`${origin}/next`)

    const { tracked, left } = await lastAct(opened)
    expect(left).toEqual([])
    await expect.poll(storedMessageIds).toEqual(messageIds(tracked).toSorted())
  })

  it('by closing it has its last events stored', async () => {
    const opened = await pageThatTracks({ count: 5, size_bytes: 10 })

    await opened.close({ runBeforeUnload: true })

    await expect.poll(storedMessageIds).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4'])
    expect(await lastAct(await openPage())).toMatchObject({ left: [] })
  })

  it('hands over no more than 64 KiB, and has the rest stored by the next page', async () => {
    const opened = await pageThatTracks({ count: 12, size_bytes: 10_000 })

    await opened.goto(`${origin}/next`)

    const { tracked, left } = await lastAct(opened)
    // Six bodies of some 10,200 bytes fit into 65,536, a seventh does not.
    expect(left).toEqual(tracked.slice(6))
    // Returned events may be stored too: a request in flight when the page closed may have arrived.
    await expect.poll(storedMessageIds).toEqual(expect.arrayContaining(messageIds(tracked.slice(0, 6))))

    const stored = await opened.evaluate(
      async ({ options, left }) => {
        const tracker = cairnClient.createTracker(options)
        const outcomes = left.map(({ event_id, custom_variables, ...rest }) =>
          tracker.track(event_id, custom_variables, rest),
        )
        return (await Promise.all(outcomes)).map(({ data }) => data?.success)
      },
      { options, left },
    )
    expect(stored).toEqual(left.map(() => true))
    expect(await storedMessageIds()).toEqual(messageIds(tracked).toSorted())
  })

  it('hands over hundreds of small events', async () => {
    const opened = await pageThatTracks({ count: 300, size_bytes: 10 })

    await opened.goto(`${origin}/next`)

    const { tracked, left } = await lastAct(opened)
    expect(left).toEqual([])
    await expect.poll(storedMessageIds).toEqual(messageIds(tracked).toSorted())
    const { data } = await workspace.client.listEvents({ query: { limit: 500 } })
    expect(data?.data.map(({ message_id }) => message_id).toReversed()).toEqual(messageIds(tracked))
  })
})
