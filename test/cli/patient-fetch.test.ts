// engines: none (opens no store)

import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { backoff_ms, patientFetch } from '../../server/cli/patient-fetch.ts'
import { html, json, startScriptedServer } from '../client/scripted-server.ts'

/** Returns a patient fetch, and what it has said. */
function patient(patience_ms: number) {
  const said: string[] = []
  const output = new Writable({
    write(text, _encoding, done) {
      said.push(String(text))
      done()
    },
  })
  const { signal } = new AbortController()
  return { said, fetch: patientFetch({ patience_ms, signal, advice: 'Run it again.', output }) }
}

describe('a command that waits for the server', () => {
  it.each([429, 500, 502, 503, 504, 520])('repeats a request after %i, and says so once', async (status) => {
    const { baseUrl } = await startScriptedServer(html(status), html(status), json(200, { is: 'whole' }))
    const { fetch, said } = patient(60_000)
    expect(await (await fetch(new Request(baseUrl))).json()).toEqual({ is: 'whole' })
    // Or that there was no response yet, on a machine that takes seconds to send one.
    expect(said).toEqual([expect.stringMatching(/^waiting for the server: .*\n$/)])
  })

  it('waits as long as the server asks', async () => {
    const { baseUrl, arrivals } = await startScriptedServer(html(503, { 'retry-after': '1' }), json(200, {}))
    await patient(60_000).fetch(new Request(baseUrl))
    const [first, second] = arrivals.map(({ arrived_ms }) => arrived_ms)
    // Timers may be a millisecond early.
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(999)
  })

  it('waits for an hour at most, although a proxy asks for a year', () => {
    expect(backoff_ms(0, '3600')).toBe(3_600_000)
    expect(backoff_ms(0, '31536000')).toBe(3_600_000)
  })

  it('gives up an unavailable server after a time, but not one that limits its rate', async () => {
    const { baseUrl } = await startScriptedServer(html(429), html(429), json(200, {}))
    // The two waits take longer.
    expect((await patient(500).fetch(new Request(baseUrl))).status).toBe(200)
    const away = await startScriptedServer(html(503))
    await expect(patient(500).fetch(new Request(away.baseUrl))).rejects.toThrow(
      'was unavailable for 1 s: status 503. Run it again.',
    )
  })
})
