// engines: sqlite (`cairn dev` has a SQLite file of its own)

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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

/** Keys are properties, as in browsers. */
class PageStorage {
  [key: string]: unknown
  getItem(key: string) {
    return this[key] ?? null
  }
  setItem(key: string, value: string) {
    this[key] = value
  }
  removeItem(key: string) {
    delete this[key]
  }
}

it('the example for leaving a page keeps what every tab has left, until it was sent', async () => {
  const storage = new PageStorage()
  const example = new Function('tracker', 'localStorage', 'addEventListener', exampleWith('handOver'))
  const open = (left: TrackedEvent[], track: () => Promise<unknown> = async () => ({})) => {
    const tracker = { handOver: () => left, track: vi.fn(track) }
    let leave = () => {}
    example(tracker, storage, (_name: string, listener: () => void) => {
      leave = listener
    })
    return { tracker, leave }
  }
  const event = (number: number) => ({
    event_id: 'seen',
    custom_variables: { number },
    message_id: `${number}`,
  })
  const tabs = [open([event(1), event(2)]), open([event(3)]), open([])]
  for (const { leave } of tabs) leave()

  const report = vi.spyOn(console, 'error').mockImplementation(() => {})
  const failing = open([], () => Promise.reject(new Error('offline')))
  await vi.waitUntil(() => report.mock.calls.length === 3, withPatience)
  report.mockRestore()
  expect(failing.tracker.track).toHaveBeenCalledTimes(3)

  const status = vi.fn(() => 503)
  const refused = open([], async () => ({ error: { status: status() } }))
  await vi.waitUntil(() => status.mock.calls.length === 3, withPatience)
  await Promise.all(refused.tracker.track.mock.results.map(({ value }) => value))
  expect(Object.keys(storage)).toHaveLength(3)

  const { tracker } = open([])
  expect(tracker.track.mock.calls).toEqual(
    [1, 2, 3].map((number) => ['seen', { number }, { message_id: `${number}` }]),
  )
  await vi.waitUntil(() => Object.keys(storage).length === 0, withPatience)

  open([event(4)]).leave()
  open([], async () => ({ error: { status: 404 } }))
  await vi.waitUntil(() => Object.keys(storage).length === 0, withPatience)
})
