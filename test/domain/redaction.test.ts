// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { redaction } from '../../server/domain/redaction.ts'
import { REDACTED } from '../../server/domain/secret-texts.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { newToken } from '../../server/domain/tokens.ts'
import { newWebhookSecret } from '../../server/webhooks/signature.ts'

const key = newServiceKey('secret')
const mark = JSON.stringify(REDACTED)
const basic = Buffer.from('bob:hunter2').toString('base64')

/** A text with its secrets removed, all slices at once. */
function redacted(text: string): string {
  const slices = redaction(text)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

/** A JSON text as a string in a JSON text, nested to this depth. */
function nested(value: object, levels: number): string {
  const text = JSON.stringify(value)
  return levels === 0 ? text : nested({ a: text }, levels - 1)
}

describe('redacted', () => {
  it.each([
    ['{"service_key":"x"}', `{"service_key":${mark}}`],
    ['{"password" : "x", "b": 1}', `{"password" : ${mark}, "b": 1}`],
    ['{"newPassword":["a",{"b":"c"}],"d":"e"}', `{"newPassword":[${mark},{"b":${mark}}],"d":"e"}`],
    ['{"Access-Token":"x","API key":"y"}', `{"Access-Token":${mark},"API key":${mark}}`],
    ['{"client_secret":"x","authorization":"y"}', `{"client_secret":${mark},"authorization":${mark}}`],
    ['{"pass\\u0077ord":"x"}', `{"pass\\u0077ord":${mark}}`],
    [`{"a":"${key}"}`, `{"a":${mark}}`],
    [`{"a":"see ${key}, please"}`, `{"a":"see ${REDACTED}, please"}`],
    [`{"a":"${key.replace('_', '\\u005f')}"}`, `{"a":${mark}}`],
    [`{"a":"x${key}"}`, `{"a":"x${REDACTED}"}`],
    [`{"${newServiceKey('publishable')}":1}`, `{${mark}:1}`],
    [`{"link":"https://x/${newToken('viewlink_')}"}`, `{"link":"https://x/${REDACTED}"}`],
    [`{"a":"${newWebhookSecret()}","b":1}`, `{"a":${mark},"b":1}`],
    [`{"link":"https://x/#token=${newToken('setup_')}"}`, `{"link":"https://x/#token=${REDACTED}"}`],
    [nested({ password: 'x' }, 1), nested({ password: REDACTED }, 1)],
    [nested({ password: 'x' }, 4), nested({ password: REDACTED }, 4)],
    [nested({ url: 'https://h/?token=x' }, 3), nested({ url: `https://h/?token=${REDACTED}` }, 3)],
    ['{"a":"log: {\\"password\\":\\"x\\"}"}', `{"a":"log: {\\"password\\":\\"${REDACTED}\\"}"}`],
    // A truncated text.
    ['{"a":1,"password":"abc', `{"a":1,"password":${mark}`],
    [`{"a":"${key.slice(0, 40)}`, `{"a":${mark}`],
    [`{"password"${' '.repeat(40)}:\n"x"}`, `{"password"${' '.repeat(40)}:\n${mark}}`],
    [`{"password"${'\n'.repeat(20)}: "x"}`, `{"password"${'\n'.repeat(20)}: ${mark}}`],
  ])('removes the secret from %s', (text, expected) => {
    expect(redacted(text)).toBe(expected)
  })

  it.each([
    ...['pwd', 'pw', 'pass', 'passwd', 'password2', 'PASSWORD', 'userPassword', 'user_pass', 'dbpass'],
    ...['passphrase', 'passcode', 'password_hash', 'passwordConfirmation', 'pass-word', 'password_field'],
    ...['credentials', 'credential', 'creds', 'secret', 'clientSecret', 'secret_access_key', 'secretKey'],
    ...['auth', 'auth_code', 'authHeader', 'Proxy-Authorization', 'authorisation', 'authToken'],
    ...['token', 'tokens', 'tokenValue', 'access_token_v2', 'accessTokenV2', 'ACCESS_TOKEN', 'refreshtoken'],
    ...['id_token', 'refresh_tokens', 'deviceTokens', 'csrfToken', 'x-auth-token', 'token_2'],
    ...['apikey', 'apiKey', 'APIKey', 'x-api-key', 'privateKey', 'signing_key', 'service_key_new'],
  ])('removes the value of a field named %s', (name) => {
    expect(redacted(JSON.stringify({ [name]: 'x' }))).toBe(JSON.stringify({ [name]: REDACTED }))
  })

  it.each([
    ...['secretary', 'secretariat', 'passenger', 'passport_country', 'pass_rate', 'boarding_pass', 'bypass'],
    ...['total_tokens', 'tokens_used', 'token_type', 'token_count', 'tokenizer', 'author', 'authority'],
    ...[
      'auth_method',
      'authentication',
      'key',
      'keyboard',
      'monkey',
      'primary_key',
      'access_key_id',
      'compass',
    ],
    ...['password_strength', 'passwordChangedAt', 'has_password_reset', 'passwordless', 'credential_type'],
    ...['authorization_status', 'secret_santa', 'client_secret_expires_at', 'pwdAge', 'credit', 'accredited'],
  ])('keeps the value of a field named %s', (name) => {
    const text = JSON.stringify({ [name]: 'x' })
    expect(redacted(text)).toBe(text)
  })

  it.each([
    [
      { name: 'password', value: 'x', b: 'c' },
      { name: 'password', value: REDACTED, b: 'c' },
    ],
    [
      { value: 'x', b: 'c', name: 'password' },
      { value: REDACTED, b: 'c', name: 'password' },
    ],
    [
      { key: 'X-Api-Key', value: ['x', 1] },
      { key: 'X-Api-Key', value: [REDACTED, 1] },
    ],
    [
      { value: { password: ['x'] }, name: 'secret' },
      { value: REDACTED, name: 'secret' },
    ],
    [
      [{ value: 'x', field: 'pwd' }, { value: 'y' }],
      [{ value: REDACTED, field: 'pwd' }, { value: 'y' }],
    ],
  ])('removes a value whose name is in another field: %j', (sent, expected) => {
    expect(redacted(JSON.stringify(sent))).toBe(JSON.stringify(expected))
  })

  it('removes a value whose name follows it where the text was cut', () => {
    expect(redacted('{"a":[{"value":"x","name":"password"')).toBe(`{"a":[{"value":${mark},"name":"password"`)
  })

  it.each([
    ['Bearer abcdef.ghijkl-0123', `Bearer ${REDACTED}`],
    ['bearer 12|abcdefghijklmnop, and more', `bearer ${REDACTED}, and more`],
    [`Basic ${basic}`, `Basic ${REDACTED}`],
    [`authorization: basic ${basic} sent`, `authorization: basic ${REDACTED} sent`],
    ['Digest username="bob", realm="a", response="0123"', `Digest ${REDACTED}`],
    ['Token 0123456789abcdef0123', `Token ${REDACTED}`],
    ['Token token="0123456789abcdef0123"', `Token token="${REDACTED}"`],
    ['https://bob:hunter2@host/a', `https://${REDACTED}@host/a`],
    ['https://bob:p@ss@host:80/', `https://${REDACTED}@host:80/`],
    ['see postgres://:hunter2@host and more', `see postgres://${REDACTED}@host and more`],
    ['https://0123456789abcdef0123@host/', `https://${REDACTED}@host/`],
    ['https://h/?a=b&access_token=x&c=d#e', `https://h/?a=b&access_token=${REDACTED}&c=d#e`],
    ['https://u:p@h/?token=x', `https://${REDACTED}@h/?token=${REDACTED}`],
    ['user=bob&password=hunter2&b=c', `user=bob&password=${REDACTED}&b=c`],
    ['password=hunter%202', `password=${REDACTED}`],
    [
      'user[password]=x&user%5Bpwd%5D=y&p%61ssword=z',
      `user[password]=${REDACTED}&user%5Bpwd%5D=${REDACTED}&p%61ssword=${REDACTED}`,
    ],
    ['Server=x;Password=y', `Server=x;Password=${REDACTED}`],
    ['level=info password=x', `level=info password=${REDACTED}`],
  ])('removes the secret from a text: %s', (text, expected) => {
    expect(redacted(JSON.stringify({ a: text, b: [text] }))).toBe(
      JSON.stringify({ a: expected, b: [expected] }),
    )
    expect(redacted(nested({ a: text }, 3))).toBe(nested({ a: expected }, 3))
  })

  it('removes an address whose slashes are escaped', () => {
    expect(redacted('{"a":"https:\\/\\/bob:x@host\\/"}')).toBe(`{"a":"https://${REDACTED}@host/"}`)
  })

  it.each([
    'Basic plan, monthly',
    'Basic subscription',
    'basic internationalization',
    `Basic ${Buffer.from('no colon here').toString('base64')}`,
    `Basic ${Buffer.from('a:b').toString('base64')}`,
    `Basic ${Buffer.from([0, 58, 1, 2, 58, 255, 7]).toString('base64')}`,
    'Bearer of good news',
    'bearer abcdefghijklmno',
    'Token economics of internationalization',
    'Digest frequency=weekly',
    'ssh://git@github.com/a',
    'https://medium.com/@bob:1',
    'https://host:8080/?mail=a@b.example',
    'https://h/?tokens_used=5&secretary=Bob&page=2',
    'a=1&b=2, passenger=Bob',
    'The password is a secret: of basic tokens "x" and keys',
    'task_01HZX4N8QW5V7T2R9YB6KDMCEA',
    'sk_short',
  ])('keeps a text unchanged: %s', (text) => {
    const sent = JSON.stringify({ a: text })
    expect(redacted(sent)).toBe(sent)
    expect(redacted(nested({ a: text }, 2))).toBe(nested({ a: text }, 2))
  })

  it.each([
    '{ "event_id": "password_changed", "tokens_used": 5, "pass": 1200 }',
    '{"password":null,"token":"","secret":true,"pwd":12.5e3,"credentials":[1,false,{}]}',
    '{"total_tokens":1200,"secretary":"Bob"}',
    '{"name":"password","value":5}',
    '{"name":"Bob","value":"x"}',
    '{"a":{"name":"password"},"value":"x"}',
    '{"a":"sk_short","b":"the secret of it","key":"C major"}',
    '{"a":"\\ud83d\\ude00 \\" : ","b":[]}',
    '',
  ])('keeps %s unchanged', (text) => {
    expect(redacted(text)).toBe(text)
  })

  it.each([
    ['quotes', JSON.stringify({ a: `pass${'"'.repeat(8000)}` })],
    ['escapes', JSON.stringify({ a: JSON.stringify(`pass${'\\"'.repeat(2500)}`) })],
    ['names', `{${'"pass":1,'.repeat(1800)}`],
    ['brackets', `"pass"${'[{'.repeat(8000)}`],
    ['values before their names', `[${'{"value":"x","name":"pw"},'.repeat(600)}`],
    ['parameters', JSON.stringify({ a: '&pass='.repeat(2700) })],
    ['words', JSON.stringify({ [`token${'_1'.repeat(8000)}_x`]: 'x' })],
    ['levels', nested({ a: 'pass'.repeat(3500) }, 4)],
  ])('reads a text full of %s a few times, in slices', (_what, text) => {
    expect(text.length).toBeGreaterThan(12_000)
    const slices = [...redaction(text)]
    expect(slices.reduce((sum, characters) => sum + characters, 0)).toBeLessThanOrEqual(16 * text.length)
    expect(Math.max(...slices)).toBeLessThanOrEqual(8 * 1024 + 4 * text.length)
  })

  it('reads a text of many strings in slices of limited size', () => {
    const slices = [...redaction(JSON.stringify(Array(1000).fill('a@b.example')))]
    expect(slices.length).toBeGreaterThan(4)
    expect(Math.max(...slices)).toBeLessThanOrEqual(8 * 1024 + 14_000 + 2)
  })

  it('keeps a secret in JSON that is five strings deep', () => {
    const text = nested({ password: 'x' }, 5)
    expect(redacted(text)).toBe(text)
  })
})
