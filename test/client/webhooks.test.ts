// engines: none (opens no store)

import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { verifyWebhook } from '../../client/webhooks.ts'
import { newWebhookSecret, signatureHeaders, signingKey } from '../../server/webhooks/signature.ts'

const secret = newWebhookSecret()
const [other, third] = [newWebhookSecret(), newWebhookSecret()]
const message = { type: 'event.created', timestamp: '2026-11-20T08:00:00.000Z', data: { name: 'Zoë 🦉' } }
const payload = JSON.stringify(message)
const now = Date.parse('2026-11-20T08:00:00.900Z')
const wrong = { ok: false, reason: 'wrong_signature' }

const sign = (secrets: string[], { body = payload, attempted_ms = now } = {}) =>
  signatureHeaders({ id: 'msg_1', attempted_ms, body: Buffer.from(body), keys: secrets.map(signingKey) })
const headers = sign([secret])
const ok = { ok: true, id: 'msg_1', timestamp: new Date('2026-11-20T08:00:00Z'), message }

/** The bytes of a signature, and one more. */
function lengthened(signature: string): string {
  const bytes = Buffer.from(signature.slice('v1,'.length), 'base64')
  return `v1,${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64')}`
}

describe('verifyWebhook', () => {
  it.each([
    ['text', payload],
    ['bytes', new TextEncoder().encode(payload)],
    ['a Buffer', Buffer.from(payload)],
    ['a part of a larger buffer', Buffer.from(`..${payload}..`).subarray(2, -2)],
  ])('accepts what the server signs, as %s', async (_, body) => {
    expect(await verifyWebhook(body, headers, secret, { now })).toEqual(ok)
  })

  it.each([
    ['Headers', new Headers(headers)],
    ['names in capitals', Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toUpperCase(), v]))],
    [
      'lists, as some frameworks have them',
      Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]])),
    ],
    [
      'a list of several signatures',
      { ...headers, 'webhook-signature': ['v1,AAAA', headers['webhook-signature'] ?? ''] },
    ],
  ])('reads headers from %s', async (_, given) => {
    expect(await verifyWebhook(payload, given, secret, { now })).toEqual(ok)
  })

  it('accepts one of several signatures with one of several secrets', async () => {
    const rotating = sign([secret, other])
    for (const secrets of [secret, other, [third, other], [secret, third]]) {
      expect(await verifyWebhook(payload, rotating, secrets, { now })).toEqual(ok)
    }
    expect(await verifyWebhook(payload, rotating, third, { now })).toEqual(wrong)
    expect(await verifyWebhook(payload, rotating, [], { now })).toEqual(wrong)
    const unknown = {
      ...headers,
      'webhook-signature': `v1a,AAAA v2 v1,!!! v1, ${headers['webhook-signature']}`,
    }
    expect(await verifyWebhook(payload, unknown, secret, { now })).toEqual(ok)
  })

  it('computes the signature once per secret, however many are given', async () => {
    const spies = (['sign', 'verify'] as const).map((name) => vi.spyOn(crypto.subtle, name))
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore()
    })
    const forged = `v1,${Buffer.alloc(32).toString('base64')} `.repeat(300)
    const given = { ...headers, 'webhook-signature': forged }
    expect(await verifyWebhook(payload, given, [secret, other], { now })).toEqual(wrong)
    expect(spies.flatMap(({ mock }) => mock.calls)).toHaveLength(2)
    const last = { ...headers, 'webhook-signature': forged + headers['webhook-signature'] }
    expect(await verifyWebhook(payload, last, [other, secret], { now })).toEqual(ok)
  })

  it('accepts a secret without its prefix', async () => {
    expect(await verifyWebhook(payload, headers, secret.slice(6), { now })).toEqual(ok)
  })

  it.each([
    ['another payload', `${payload} `, {}],
    ['another message', payload, { 'webhook-id': 'msg_2' }],
    ['another attempt', payload, { 'webhook-timestamp': '1795161601' }],
    ['another scheme', payload, { 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') }],
    ['a shortened signature', payload, { 'webhook-signature': headers['webhook-signature'].slice(0, 20) }],
    ['a lengthened signature', payload, { 'webhook-signature': lengthened(headers['webhook-signature']) }],
    ['an empty signature', payload, { 'webhook-signature': 'v1,' }],
  ])('refuses the signature of %s', async (_, body, changed) => {
    const given = { ...headers, ...changed }
    expect(await verifyWebhook(body, given, secret, { now })).toEqual(wrong)
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('misses %s', async (name) => {
    const expected = { ok: false, reason: 'missing_header' }
    for (const value of [undefined, '']) {
      expect(await verifyWebhook(payload, { ...headers, [name]: value }, secret, { now })).toEqual(expected)
    }
  })

  it.each(['now', '1.5', '-1', '1e9', '0x1', '9'.repeat(13)])('refuses the timestamp %s', async (value) => {
    const given = { ...headers, 'webhook-timestamp': value }
    const expected = { ok: false, reason: 'invalid_timestamp' }
    expect(await verifyWebhook(payload, given, secret, { now })).toEqual(expected)
  })

  it('accepts attempts of the last and the next five minutes, or of another tolerance', async () => {
    const at = (late_s: number, tolerance_s?: number) =>
      verifyWebhook(payload, headers, secret, {
        now: now + late_s * 1000,
        ...(tolerance_s !== undefined && { tolerance_s }),
      })
    expect(await at(300)).toEqual(ok)
    expect(await at(301)).toEqual({ ok: false, reason: 'too_old' })
    expect(await at(-300)).toEqual(ok)
    expect(await at(-301)).toEqual({ ok: false, reason: 'too_new' })
    expect(await at(10, 10)).toEqual(ok)
    expect(await at(11, 10)).toEqual({ ok: false, reason: 'too_old' })
  })

  it.each([{ tolerance_s: Number.NaN }, { now: Number.NaN }])(
    'accepts nothing with %o, as Number reads an unset variable',
    async (mistake) => {
      const verified = await verifyWebhook(payload, headers, secret, { now, ...mistake })
      expect(verified).toEqual({ ok: false, reason: 'too_old' })
    },
  )

  it('says that a signed payload is not JSON', async () => {
    const signed = sign([secret], { body: 'hello' })
    expect(await verifyWebhook('hello', signed, secret, { now })).toEqual({
      ok: false,
      reason: 'invalid_json',
    })
  })

  it.each(['', 'whsec_', 'whsec_!', undefined, null, [secret, undefined]])(
    'rejects the secret %j without repeating it',
    async (invalid) => {
      await expect(verifyWebhook(payload, headers, invalid as string, { now })).rejects.toThrow(
        new TypeError('The secret of a webhook must be whsec_ and base64'),
      )
    },
  )

  it.each([message, null, undefined])('rejects a payload that was parsed, into %j', async (parsed) => {
    await expect(verifyWebhook(parsed as never, headers, secret, { now })).rejects.toThrow(
      new TypeError('The payload must be the body as received, a string or bytes, not parsed'),
    )
  })

  it('accepts what the library of Standard Webhooks signs, and bytes that are not UTF-8', async () => {
    const timestamp = new Date()
    const foreign = {
      'webhook-id': 'msg_2',
      'webhook-timestamp': `${Math.floor(timestamp.getTime() / 1000)}`,
      'webhook-signature': new Webhook(secret).sign('msg_2', timestamp, payload),
    }
    expect(await verifyWebhook(payload, foreign, secret)).toMatchObject({ ok: true, id: 'msg_2', message })
    const bytes = Buffer.from([0x22, 0xff, 0x22])
    const signature = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(Buffer.concat([Buffer.from(`msg_1.${headers['webhook-timestamp']}.`), bytes]))
      .digest('base64')
    const given = { ...headers, 'webhook-signature': `v1,${signature}` }
    expect(await verifyWebhook(bytes, given, secret, { now })).toMatchObject({ ok: true, message: '\ufffd' })
  })
})
