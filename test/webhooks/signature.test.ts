// engines: none (opens no store)

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { newWebhookSecret, signatureHeaders, signingKey } from '../../server/webhooks/signature.ts'
import { hasPrograms, pathOf } from '../fixtures/programs.ts'

it('signs the example of the library of Standard Webhooks with the same signature', () => {
  const headers = signatureHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    attempted_ms: 1_614_265_330_999,
    body: Buffer.from('{"test": 2432232314}'),
    keys: [signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
  })
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

it('creates secrets of 32 random bytes in base64', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
})

it.each(['{"type":"event.created"}', '', '{"name":"Zoë 🦉"}', ' {"spaced" : 1}\n'])(
  'is verified by the library of Standard Webhooks: %j',
  (text) => {
    const secret = newWebhookSecret()
    const headers = signatureHeaders({
      id: 'msg_1',
      attempted_ms: Date.now(),
      body: Buffer.from(text),
      keys: [signingKey(secret)],
    })
    const verify = (payload: string) => new Webhook(secret).verify(payload, headers, { jsonParse: false })
    expect(() => verify(text)).not.toThrow()
    expect(() => verify(`${text} `)).toThrow('No matching signature found')
  },
)

it('is verified with either secret while one is rotated, and with no other', () => {
  const [current, previous, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
  const headers = signatureHeaders({
    id: 'msg_1',
    attempted_ms: Date.now(),
    body: Buffer.from('{}'),
    keys: [current, previous].map(signingKey),
  })
  expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
  for (const secret of [current, previous]) {
    expect(new Webhook(secret).verify('{}', headers)).toEqual({})
  }
  expect(() => new Webhook(other).verify('{}', headers)).toThrow('No matching signature found')
})

it.skipIf(!hasPrograms('python3'))('is verified by the Python of the contract', () => {
  const [, recipe = ''] = /^ +```python\n(.*?)```/ms.exec(readFileSync('openapi.yaml', 'utf8')) ?? []
  const [current, previous, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
  const body = '{"name":"Zoë 🦉"}'
  const keys = [current, previous].map(signingKey)
  const headers = signatureHeaders({
    id: 'msg_1',
    attempted_ms: Date.now(),
    body: Buffer.from(body),
    keys,
  })
  const isValid = (secret: string, text: string) => {
    const program = `import base64, hmac, json, sys
secret, headers, body = json.loads(sys.stdin.read())
body = body.encode()
${recipe.replace(/^ +/gm, '')}
print(is_valid)`
    const input = JSON.stringify([secret, headers, text])
    return execFileSync(pathOf('python3') ?? '', ['-c', program], { input, encoding: 'utf8' }).trim()
  }
  expect([current, previous, other].map((secret) => isValid(secret, body))).toEqual(['True', 'True', 'False'])
  expect(isValid(current, `${body} `)).toBe('False')
})
