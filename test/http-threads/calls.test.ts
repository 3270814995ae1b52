import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { JsonBytes } from '../../server/domain/json-bytes.ts'
import { Calls } from '../../server/http-threads/calls.ts'
import type { Reading } from '../../server/storage/storage.ts'
import { Unavailable } from '../../server/storage/unavailable.ts'
import { withPatience } from '../patience.ts'

/** The far end answers with these. */
function methods() {
  const heard: string[] = []
  return {
    add: async (one: number, other: number) => one + other,
    hear: (word: string) => void heard.push(word),
    heardSoFar: async () => [...heard],
    bytes: async (length: number) => ({ bytes: new Uint8Array(length).fill(7), lines: 3 }),
    json: async () => new JsonBytes<number[]>(new TextEncoder().encode('[1,2]')),
    refuse: async () => {
      throw new Unavailable('storage_full', new Error('no room'))
    },
    fail: async () => {
      throw new TypeError('it is broken')
    },
    read: async (name: string, { caller, workspaceId }: Reading) => ({ name, caller, workspaceId }),
    wrap: async (_word: unknown) => ({ word: () => 'cannot be copied' }),
    never: (_reading: Reading) => new Promise<void>(() => {}),
  }
}

function connected() {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const own = methods()
  new Calls(port2, own)
  return { calls: new Calls<typeof own>(port1, {}), port: port1 }
}

const readingUntil = (signal: AbortSignal): Reading => ({ caller: 'key', workspaceId: 'wsp', signal })

describe('a call to another thread', () => {
  it('is answered with what the method returns, each with its own', async () => {
    const { calls } = connected()
    const sums = await Promise.all(Array.from({ length: 100 }, (_, index) => calls.ask('add', index, 1)))
    expect(sums).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })

  it('goes out with all others of its round of the event loop, as one message', async () => {
    const { calls, port } = connected()
    const posted = vi.spyOn(port, 'postMessage')
    await Promise.all([calls.ask('add', 1, 2), calls.ask('add', 3, 4), calls.ask('heardSoFar')])
    expect(posted).toHaveBeenCalledTimes(1)
  })

  it('is heard behind what was told before', async () => {
    const { calls } = connected()
    calls.tell('hear', 'one')
    calls.tell('hear', 'two')
    expect(await calls.ask('heardSoFar')).toEqual(['one', 'two'])
  })

  it('brings bytes and JSON as they are', async () => {
    const { calls } = connected()
    expect(await calls.ask('bytes', 3)).toEqual({ bytes: new Uint8Array([7, 7, 7]), lines: 3 })
    const json = await calls.ask('json')
    expect(json).toBeInstanceOf(JsonBytes)
    expect(new TextDecoder().decode(json.bytes)).toBe('[1,2]')
  })

  it('is refused as it is there, and fails with what is for the log', async () => {
    const { calls } = connected()
    const refused = calls.ask('refuse')
    await expect(refused).rejects.toBeInstanceOf(Unavailable)
    await expect(refused).rejects.toMatchObject({ reason: 'storage_full' })
    await expect(calls.ask('fail')).rejects.toThrow('it is broken')
  })

  it('fails alone where something cannot be copied, on its way there or back', async () => {
    const { calls } = connected()
    const others = Promise.all([calls.ask('add', 1, 2), calls.ask('add', 3, 4)])
    const wrapped = await Promise.allSettled([calls.ask('wrap', 'word'), calls.ask('wrap', () => {})])
    for (const asked of wrapped) {
      expect(asked.status === 'rejected' && String(asked.reason)).toContain('could not be cloned')
    }
    expect(await others).toEqual([3, 7])
  })

  it('that reads tells on whose behalf', async () => {
    const { calls } = connected()
    const reading = readingUntil(new AbortController().signal)
    expect(await calls.read('read', reading, 'list')).toEqual({
      name: 'list',
      caller: 'key',
      workspaceId: 'wsp',
    })
  })

  it('that reads ends at once where its caller goes, or has gone before', async () => {
    const { calls } = connected()
    const controller = new AbortController()
    const going = calls.read('never', readingUntil(controller.signal))
    await calls.ask('heardSoFar')
    controller.abort(new Error('gone'))
    await expect(going).rejects.toThrow('gone')
    await expect(calls.read('never', readingUntil(controller.signal))).rejects.toThrow('gone')
  })

  it('that reads tells the other thread when nobody waits any more', async () => {
    const { port1, port2 } = new MessageChannel()
    onTestFinished(() => port1.close())
    let signal: AbortSignal | undefined
    const own = {
      read: (reading: Reading) =>
        new Promise<void>((_, reject) => {
          signal = reading.signal
          reading.signal.addEventListener('abort', () => reject(reading.signal.reason))
        }),
    }
    new Calls(port2, own)
    const calls = new Calls<typeof own>(port1, {})
    const controller = new AbortController()
    const going = calls.read('read', readingUntil(controller.signal))
    going.catch(() => {})
    await vi.waitUntil(() => signal !== undefined, withPatience)
    controller.abort(new Error('gone'))
    await vi.waitUntil(() => signal?.aborted === true, withPatience)
  })
})
