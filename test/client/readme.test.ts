// engines: sqlite (`cairn dev` has a SQLite file of its own)

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect, it, vi } from 'vitest'
import type { TrackedEvent } from '../../client/index.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { writeIn } from '../fixtures/installation.ts'
import { withPatience } from '../fixtures/patience.ts'

/** Returns the example of client/README.md that contains a text. */
function exampleWith(text: string): string {
  const blocks = readFileSync('client/README.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)
  return [...blocks].map(([, code = '']) => code).find((code) => code.includes(text)) ?? ''
}

it('the example for tests of your own code starts a server, and stops it', async () => {
  const file = writeIn(temporaryFolder(), 'cairn.ts', exampleWith('TestProject'))
  const { setup } = await import(pathToFileURL(file).href)
  const provide = vi.fn()
  const stop = await setup({ provide })
  const [name, { url }] = provide.mock.calls[0] ?? []
  const answers = () =>
    fetch(join(url, 'v1', 'openapi.yaml')).then(
      ({ ok }) => ok,
      () => false,
    )
  expect([name, await answers()]).toEqual(['cairn', true])
  stop()
  await vi.waitUntil(async () => !(await answers()), withPatience)
})

/** Keys are properties, as in browsers. It is full for a value that is longer than `room`. */
class PageStorage {
  [key: string]: unknown
  readonly #room: number
  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room
  }
  getItem(key: string) {
    return this[key] ?? null
  }
  setItem(key: string, value: string) {
    if (value.length > this.#room) throw new DOMException('full', 'QuotaExceededError')
    this[key] = value
  }
  removeItem(key: string) {
    delete this[key]
  }
}

/** The example as a function of what it takes from the page. */
function exampleForLeaving() {
  const parameters = ['tracker', 'localStorage', 'addEventListener', 'customer', 'journey_id', 'document']
  return new Function(...parameters, exampleWith('handOver'))
}

/** Runs the example in a page. @returns where the page's events are dispatched */
function openExample(tracker: object, storage: PageStorage, document = { hidden: false }): EventTarget {
  const page = new EventTarget()
  const customer = { client_customer_id: 'ada', customer_type: 'contact' }
  exampleForLeaving()(tracker, storage, page.addEventListener.bind(page), customer, 'jrn_1', document)
  return page
}

it('the example for leaving a page keeps what every tab has left, until it was sent', async () => {
  const storage = new PageStorage()
  const example = exampleForLeaving()
  const open = async (
    left: TrackedEvent[],
    track: () => Promise<unknown> = async () => ({}),
    { client_customer_id = 'ada 1', initialized = {} } = {},
  ) => {
    const initialization = vi.fn(async () => initialized)
    const tracker = { handOver: () => left, track: vi.fn(track), initialization }
    let leave = () => {}
    const addEventListener = (_name: string, listener: () => void) => {
      leave = listener
    }
    const customer = { client_customer_id, customer_type: 'contact' }
    example(tracker, storage, addEventListener, customer, 'jrn_1')
    // What was saved before is looked at once the customer is initialized.
    await initialization.mock.results[0]?.value
    await setImmediate()
    return { tracker, leave }
  }
  const event = (number: number) => ({
    event_id: 'seen',
    custom_variables: { number },
    message_id: `${number}`,
  })
  const tabs = [await open([event(1), event(2)]), await open([event(3)]), await open([])]
  for (const { leave } of tabs) leave()

  const report = vi.spyOn(console, 'error').mockImplementation(() => {})
  const failing = await open([], () => Promise.reject(new Error('offline')))
  await vi.waitUntil(() => report.mock.calls.length === 3, withPatience)
  report.mockRestore()
  expect(failing.tracker.track).toHaveBeenCalledTimes(3)

  const status = vi.fn(() => 503)
  const refused = await open([], async () => ({ error: { status: status() } }))
  await vi.waitUntil(() => status.mock.calls.length === 3, withPatience)
  await Promise.all(refused.tracker.track.mock.results.map(({ value }) => value))
  expect(Object.keys(storage)).toHaveLength(3)

  // Neither another customer's page sends them, nor one whose customer is refused.
  for (const state of [
    { client_customer_id: 'bob' },
    { client_customer_id: 'ada' },
    { initialized: { error: { status: 409 } } },
  ]) {
    const { tracker } = await open([], undefined, state)
    expect(tracker.track).not.toHaveBeenCalled()
  }
  expect(Object.keys(storage)).toHaveLength(3)

  const { tracker } = await open([])
  expect(tracker.track.mock.calls).toEqual(
    [1, 2, 3].map((number) => ['seen', { number }, { message_id: `${number}` }]),
  )
  await vi.waitUntil(() => Object.keys(storage).length === 0, withPatience)

  // What cannot be read holds up no other, and more than the queue takes are sent in parts.
  const many = Array.from({ length: 1200 }, (_, number) => event(number))
  const { leave } = await open(many)
  leave()
  const [unreadable = ''] = Object.keys(storage)
  storage.setItem(unreadable, 'x')
  let [waiting, most] = [0, 0]
  vi.spyOn(console, 'error').mockImplementation(() => {})
  await open([], async () => {
    most = Math.max(most, ++waiting)
    await setImmediate()
    waiting -= 1
    return {}
  })
  await vi.waitUntil(() => Object.keys(storage).length === 1, withPatience)
  vi.restoreAllMocks()
  expect(Object.keys(storage)).toEqual([unreadable])
  expect(most).toBe(500)
  storage.removeItem(unreadable)

  for (const status of [404, 413]) {
    const { leave } = await open([event(4)])
    leave()
    await open([], async () => ({ error: { status } }))
    await vi.waitUntil(() => Object.keys(storage).length === 0, withPatience)
  }
})

it('the example for leaving a page saves what fits, although a larger event before it does not', async () => {
  const storage = new PageStorage(100)
  const events = ['small', 'x'.repeat(100), 'also small'].map((custom_variables, number) => ({
    event_id: 'seen',
    custom_variables,
    message_id: `${number}`,
  }))
  const report = vi.spyOn(console, 'error').mockImplementation(() => {})
  const tracker = { handOver: () => events, initialization: async () => ({ error: { status: 503 } }) }
  const page = openExample(tracker, storage)
  page.dispatchEvent(new Event('pagehide'))

  expect(Object.values(storage)).toEqual([events[0], events[2]].map((event) => JSON.stringify(event)))
  expect(report).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ name: 'QuotaExceededError' }))
  report.mockRestore()
})

it('the example for leaving a page saves what is left when the page is hidden, and not when it is shown', () => {
  const storage = new PageStorage()
  const events = [{ event_id: 'seen', message_id: '1' }]
  const tracker = { handOver: () => events, initialization: async () => ({ error: { status: 503 } }) }
  const document = { hidden: false }
  const page = openExample(tracker, storage, document)

  page.dispatchEvent(new Event('visibilitychange'))
  expect(Object.keys(storage)).toEqual([])
  document.hidden = true
  page.dispatchEvent(new Event('visibilitychange'))
  expect(Object.values(storage)).toEqual(events.map((event) => JSON.stringify(event)))
})
