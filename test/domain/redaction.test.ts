// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { REDACTED, redacted } from '../../server/domain/redaction.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { newToken } from '../../server/domain/tokens.ts'

const key = newServiceKey('secret')
const mark = JSON.stringify(REDACTED)

describe('redacted', () => {
  it.each([
    ['{"service_key":"x"}', `{"service_key":${mark}}`],
    ['{"password" : 12345, "b": 1}', `{"password" : ${mark}, "b": 1}`],
    ['{"newPassword":["a",{"b":"c"}],"d":"e"}', `{"newPassword":[${mark},{"b":${mark}}],"d":"e"}`],
    ['{"Access-Token":"x","API key":"y"}', `{"Access-Token":${mark},"API key":${mark}}`],
    ['{"client_secret":"x","authorization":"y"}', `{"client_secret":${mark},"authorization":${mark}}`],
    ['{"pass\\u0077ord":"x"}', `{"pass\\u0077ord":${mark}}`],
    [`{"a":"${key}"}`, `{"a":${mark}}`],
    [`{"a":"see ${key}, please"}`, `{"a":"see ${REDACTED}, please"}`],
    [`{"a":"${key.replace('_', '\\u005f')}"}`, `{"a":${mark}}`],
    [`{"${newServiceKey('publishable')}":1}`, `{${mark}:1}`],
    [`{"link":"https://x/#token=${newToken('setup_')}"}`, `{"link":"https://x/#token=${REDACTED}"}`],
    ['{"header":"Bearer abc.def"}', `{"header":"Bearer ${REDACTED}"}`],
    [
      JSON.stringify({ a: JSON.stringify({ password: 'x' }) }),
      JSON.stringify({ a: JSON.stringify({ password: REDACTED }) }),
    ],
    // The head of a text that goes on.
    ['{"a":1,"password":"abc', `{"a":1,"password":${mark}`],
    [`{"a":"${key.slice(0, 40)}`, `{"a":${mark}`],
  ])('takes the secret out of %s', (text, expected) => {
    expect(redacted(text)).toBe(expected)
  })

  it.each([
    '{ "event_id": "password_changed", "tokens_used": 5, "pass": "season" }',
    '{"password":null,"token":"","secret":true}',
    '{"a":"sk_short","b":"the secret of it","key":"C major"}',
    '{"a":"\\ud83d\\ude00 \\" : ","b":[]}',
    '',
  ])('leaves %s as it is', (text) => {
    expect(redacted(text)).toBe(text)
  })
})
