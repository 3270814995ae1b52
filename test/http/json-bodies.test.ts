// engines: sqlite (settled before the store is asked for more than the key)
// alone: measures the processor time of its own process

import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { processorTime_ms } from '../fixtures/processor-time.ts'
import { invalidJson, invalidRequest, problemOf, refusal, send } from '../fixtures/requests.ts'

let cairn: Cairn
let workspace: Workspace
let event: { journey_id: string; customer_id: string; event_id: string }

beforeAll(async () => {
  cairn = await startCairn()
  ;({ workspace, event } = await customerInJourney(cairn))
  return cairn.stop
})

const post = (path: string, body: string | Buffer) =>
  send(cairn, `POST ${path}`, { key: workspace.secret_key, body })
const createEvent = (body: string | Buffer) => post('/events/create', body)

/** The text of a valid event with more text after its last field. */
const eventWith = (more: string) => `${JSON.stringify(event).slice(0, -1)},${more}}`

/** The variables of an event as read back, for variables given as JSON text. */
async function stored(variables: string): Promise<unknown> {
  const reply = await createEvent(eventWith(`"custom_variables":${variables}`))
  const { id } = await reply.json()
  const { data } = await workspace.client.listEvents({ query: { limit: 500 } })
  return data?.data.find((event) => event.id === id)?.custom_variables
}

/** Bodies that are not UTF-8, or have a byte order mark, by what the response says of them. */
const misencoded = Object.entries({
  'begins with a byte order mark (BOM, U+FEFF): must be UTF-8 without one': {
    'UTF-8': Buffer.from('\ufeff{"event_id":"s3cret"}'),
    'UTF-8, twice': Buffer.from('\ufeff\ufeff{}'),
    'UTF-8, alone': Buffer.from('\ufeff'),
  },
  'begins with a byte order mark (BOM) of UTF-16: must be UTF-8 without one': {
    'UTF-16': Buffer.from('\ufeff{"event_id":"s3cret"}', 'utf16le'),
    'UTF-16, big-endian': Buffer.from('\ufeff{"event_id":"s3cret"}', 'utf16le').swap16(),
  },
  'begins with a byte order mark (BOM) of UTF-32: must be UTF-8 without one': {
    'UTF-32': Buffer.from('fffe00007b0000007d000000', 'hex'),
    'UTF-32, big-endian': Buffer.from('0000feff0000007b0000007d', 'hex'),
  },
  'looks like UTF-16: must be UTF-8': {
    'UTF-16 without one': Buffer.from('{"event_id":"s3cret"}', 'utf16le'),
    'UTF-16 without one, big-endian': Buffer.from('{"event_id":"s3cret"}', 'utf16le').swap16(),
  },
}).flatMap(([detail, bodies]) => Object.entries(bodies).map(([name, body]) => [name, body, detail] as const))

describe('a body that is not JSON', () => {
  it.each([
    ['{"event_id": "s3cret",}', 1, 23],
    ['{"event_id": "s3cret" "x"}', 1, 23],
    ['{\n  "event_id": s3cret\n}', 2, 15],
    ['{"event_id": "s3cret', 1, 14],
    ["{'event_id': 's3cret'}", 1, 2],
    ['{"event_id": "s3cret"} {}', 1, 24],
    ['// s3cret\n{}', 1, 1],
    ['{"event_id": NaN, "s3cret": 1}', 1, 14],
    [' \ufeff{"s3cret": 1}', 1, 2],
    ['s3cret', 1, 1],
    ['{"s3cret": 01}', 1, 13],
    ['   ', 1, 4],
    ['\n\n', 3, 1],
  ])('is refused with line and column, without echoing the input: %j', async (body, line, column) => {
    const problem = await problemOf(await createEvent(body))
    expect(problem).toMatchObject({
      status: 400,
      code: 'invalid_json',
      errors: [
        {
          pointer: '',
          detail: expect.stringMatching(`^is not JSON: \\w+ at line ${line}, column ${column}$`),
        },
      ],
    })
    expect(JSON.stringify(problem)).not.toContain('s3cret')
  })

  it.each([9_000, 30_000, 65_536])('is refused if %i brackets open', async (count) => {
    for (const bracket of ['[', '{', '[{']) {
      const reply = await createEvent(bracket.repeat(count / bracket.length))
      expect(await refusal(reply)).toMatchObject({ status: 400, code: 'invalid_json' })
    }
  })

  it.each(misencoded)(
    'is refused with the byte order mark as the reason: %s',
    async (_name, body, detail) => {
      for (const path of ['/events/create', '/events/batch', '/customers/initialize', '/journeys']) {
        const problem = await problemOf(await post(path, body))
        expect([path, problem]).toMatchObject([
          path,
          { status: 400, code: 'invalid_json', errors: [{ pointer: '', detail }] },
        ])
      }
    },
  )

  it('is refused for a byte order mark in a long body too', async () => {
    const events = Array.from({ length: 900 }, () => event)
    const problem = await problemOf(await post('/events/batch', `\ufeff${JSON.stringify({ events })}`))
    expect(problem.errors).toMatchObject([{ detail: expect.stringContaining('byte order mark (BOM') }])
  })

  it.each([
    ['a byte that UTF-8 does not have', [0xff]],
    ['an overlong form', [0xc0, 0x80]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a character beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['half a character', [0xc3]],
    ['Latin-1', [0xe9]],
  ])('is refused as not UTF-8: %s', async (_name, bytes) => {
    const [before = '', after = ''] = eventWith('"custom_variables":{"a":"|"}').split('|')
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
    expect(await refusal(await createEvent(body))).toEqual(
      invalidJson({ pointer: '', detail: 'must be UTF-8' }),
    )
  })

  it('is never answered with 5xx, whichever byte of a valid body is damaged', async () => {
    const good = Buffer.from(eventWith('"custom_variables":{"a":[1.5,"\\u0041",true,null]}'))
    const statuses = new Set<number>()
    // Not all at once: a thousand new connections are more than a busy machine accepts.
    for (const at of good.keys()) {
      const damaged = ['"', '{', ']', '\\', '\0', 'u'].map((byte) => {
        const body = Buffer.from(good)
        body.write(byte, at, 'latin1')
        return body
      })
      for (const { status } of await Promise.all(damaged.map(createEvent))) statuses.add(status)
    }
    expect([...statuses].sort()).toEqual([201, 400, 404])
  })
})

describe('I-JSON', () => {
  const NUMBER = 'must be within the range of a double-precision number'
  const SURROGATE = 'must not contain a lone surrogate'
  const DUPLICATE = 'must appear only once'

  it.each<[fault: string, body: () => string, faults: [pointer: string, detail: string][]]>([
    [
      'numbers outside a double, each with its pointer',
      () => eventWith('"custom_variables":{"a":[1e400,1e308],"b":{"c":-1e309},"1e400":0}'),
      [
        ['/custom_variables/a/0', NUMBER],
        ['/custom_variables/b/c', NUMBER],
      ],
    ],
    [
      'lone surrogates in values and in names',
      () => eventWith('"custom_variables":{"a":"x\\ud800","b":["\\udc00\\ud800"],"\\udfff":1}'),
      [
        ['/custom_variables/a', SURROGATE],
        ['/custom_variables/b/0', SURROGATE],
        ['/custom_variables/\ufffd', SURROGATE],
      ],
    ],
    [
      'a lone surrogate in a required field',
      () => JSON.stringify(event).replace('"signed_up"', '"signed\\ud83d"'),
      [['/event_id', SURROGATE]],
    ],
    [
      'the duplicate name after a value that nests 9,000 levels',
      () => `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)},"a":1}`,
      [
        [`/a${'/0'.repeat(32)}`, 'must not nest more than 32 levels'],
        ['/a', DUPLICATE],
      ],
    ],
    [
      'the faults before the position where the text is no longer JSON',
      () => '{"a":1e999,"b":["\\ud800",{"c":0,"c":01}]}',
      [
        ['/a', NUMBER],
        ['/b/0', SURROGATE],
        ['/b/1/c', DUPLICATE],
        ['', 'is not JSON: CommaExpected at line 1, column 38'],
      ],
    ],
  ])('refuses and reports %s', async (_name, body, faults) => {
    const errors = faults.map(([pointer, detail]) => ({ pointer, detail }))
    expect(await refusal(await createEvent(body()))).toEqual(invalidJson(...errors))
  })

  it('accepts a surrogate pair written in escapes', async () => {
    expect(JSON.stringify(await stored('"\\ud83d\\ude00"'))).toBe('"\u{1f600}"')
  })

  it.each([
    ['at the top', '"event_id":"x"', ['/event_id']],
    ['in a field', '"custom_variables":{"a":1,"b":2,"a":1}', ['/custom_variables/a']],
    ['in an array', '"custom_variables":{"a":[0,{},{"b":{"c":1,"c":2}}]}', ['/custom_variables/a/2/b/c']],
    ['by way of an escape', '"custom_variables":{"a":1,"\\u0061":2}', ['/custom_variables/a']],
    ['as __proto__', '"custom_variables":{"__proto__":1,"__proto__":{}}', ['/custom_variables/__proto__']],
    ['as an empty name', '"custom_variables":{"":1,"":2}', ['/custom_variables/']],
    ['with slashes', '"custom_variables":{"a/~":1,"a\\/~":2}', ['/custom_variables/a~1~0']],
    ['as numbers', '"custom_variables":{"1":[],"1":[]}', ['/custom_variables/1']],
    ['with brackets in strings', '"custom_variables":{"[{\\"":"}]","[{\\"":":"}', ['/custom_variables/[{"']],
    [
      'more than twice, and twice',
      '"custom_variables":{"a":1,"a":2,"b":{},"a":3,"b":[]}',
      ['/custom_variables/a', '/custom_variables/a', '/custom_variables/b'],
    ],
    [
      'in a value that is repeated',
      '"custom_variables":{"a":{"b":1,"b":2},"a":3}',
      ['/custom_variables/a/b', '/custom_variables/a'],
    ],
  ])('refuses a duplicate name %s', async (_name, more, pointers) => {
    const errors = pointers.map((pointer) => ({ pointer, detail: DUPLICATE }))
    expect(await refusal(await createEvent(eventWith(more)))).toEqual(invalidJson(...errors))
  })

  it('accepts the same name in different objects', async () => {
    const body = eventWith('"custom_variables":{"a":{"a":{"a":["a","a"]}},"b":[{"a":1},{"a":1}]}')
    expect((await createEvent(body)).status).toBe(201)
  })

  /** A batch of fifty events with these variables each, and a single event with the first of them. */
  const batchOf = (variables: (index: number) => string) => {
    const events = Array.from({ length: 50 }, (_, index) =>
      eventWith(`"custom_variables":{"a":${variables(index)}}`),
    )
    return { single: events[0] ?? '', batch: `{"events":[${events.join()}]}` }
  }

  const tooMany = (most: number, what: string) =>
    invalidJson({ pointer: '', detail: `must not contain more than ${most} ${what}` })

  it('accepts a maximum of different names, with an error of a few percent, and any number of equal ones', async () => {
    const different = (count: number) =>
      batchOf((item) => {
        const names = Array.from(
          { length: count },
          (_, index) => `"${(item * count + index).toString(36)}":0`,
        )
        return `{${names.join()}}`
      })
    const equal = batchOf(() => `[${Array(1_000).fill('{"b":1,"c":2,"d":3}').join()}]`)
    expect((await createEvent(equal.single)).status).toBe(201)
    expect((await post('/events/batch', equal.batch)).status).toBe(200)
    expect((await createEvent(different(4_990).single)).status).toBe(201)
    expect(await refusal(await createEvent(different(5_400).single))).toEqual(
      tooMany(5_000, 'different names'),
    )
    expect((await post('/events/batch', different(790).batch)).status).toBe(200)
    expect(await refusal(await post('/events/batch', different(860).batch))).toEqual(
      tooMany(40_000, 'different names'),
    )
  })

  it('accepts a maximum of names with an escape', async () => {
    const escaped = (count: number) => batchOf(() => `[${Array(count).fill('{"\\n":0}').join()}]`)
    const objects = (count: number) => `[${Array(count).fill('{"\\n":0,"\\t":0,"\\u0061":0}').join()}]`
    expect((await createEvent(escaped(1_000).single)).status).toBe(201)
    expect((await post('/events/batch', batchOf(() => objects(666)).batch)).status).toBe(200)
    expect(await refusal(await post('/events/batch', batchOf(() => objects(667)).batch))).toEqual(
      tooMany(100_000, 'names with an escape'),
    )
  })

  it('accepts a maximum of objects and arrays', async () => {
    const lists = (count: number) => `[${Array(count).fill('[]').join()}]`
    // The event, its variables and the list around the others make three levels; the body and its events make two more.
    expect((await createEvent(batchOf(() => lists(9_997)).single)).status).toBe(201)
    expect(await refusal(await createEvent(batchOf(() => lists(9_998)).single))).toEqual(
      tooMany(10_000, 'objects and arrays'),
    )
    const [full, over] = [1_957, 1_997].map((last) => batchOf((index) => lists(index === 49 ? last : 1_997)))
    expect((await post('/events/batch', full?.batch ?? '')).status).toBe(200)
    expect(await refusal(await post('/events/batch', over?.batch ?? ''))).toEqual(
      tooMany(100_000, 'objects and arrays'),
    )
  })

  it.each([
    ['objects', '{"a":', '}'],
    ['arrays', '[', ']'],
  ])('accepts 32 levels of %s in a field and refuses 33 where they begin', async (_name, open, close) => {
    const nested = (levels: number) => {
      const inner = open.repeat(levels - 1) + 1 + close.repeat(levels - 1)
      return eventWith(`"custom_variables":{"a":${inner}}`)
    }
    expect((await createEvent(nested(32))).status).toBe(201)
    const step = open === '[' ? '/0' : '/a'
    expect(await refusal(await createEvent(nested(33)))).toEqual(
      invalidJson({
        pointer: `/custom_variables/a${step.repeat(31)}`,
        detail: 'must not nest more than 32 levels',
      }),
    )
  })

  it.each([9_000, 30_000])('refuses %i levels without another fault', async (levels) => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"":', '}'],
    ] as const) {
      const size = Math.min(levels, Math.floor(65_000 / (open.length + close.length)))
      const reply = await createEvent(`${open.repeat(size)}1${close.repeat(size)}`)
      expect(await refusal(reply)).toMatchObject({ status: 400, code: 'invalid_json' })
    }
  })
})

describe('names that objects have', () => {
  it('are unknown fields like any other at the top level', async () => {
    const body = eventWith('"__proto__":{"customer_id":"x"},"constructor":1,"toString":2')
    const { code, errors } = await refusal(await createEvent(body))
    expect(code).toBe('invalid_request')
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['/__proto__', '/constructor', '/toString'])
  })

  it('do not replace a required field', async () => {
    const { errors } = await refusal(await createEvent(`{"__proto__":${JSON.stringify(event)}}`))
    expect(errors?.map(({ pointer }) => pointer).sort()).toEqual([
      '/__proto__',
      '/customer_id',
      '/event_id',
      '/journey_id',
    ])
  })

  it('are returned as variables and change no object', async () => {
    const text = '{"a":{"__proto__":{"polluted":true}},"constructor":{"prototype":{"polluted":true}}}'
    expect(JSON.stringify(await stored(text))).toBe(text)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

describe('NUL', () => {
  const customer = { client_customer_id: 'c', journey_id: 'j', customer_type: 'contact', customer_name: 'n' }
  const step = { event_id: 'e', name: 'n' }

  it.each([
    ['/customers/initialize', '/client_customer_id', { ...customer, client_customer_id: 'a\0b' }],
    ['/customers/initialize', '/journey_id', { ...customer, journey_id: '\0' }],
    ['/customers/initialize', '/customer_name', { ...customer, customer_name: 'a\0' }],
    ['/events/create', '/journey_id', { journey_id: '\0', customer_id: 'c', event_id: 'e' }],
    ['/events/create', '/customer_id', { journey_id: 'j', customer_id: 'c\0', event_id: 'e' }],
    ['/events/create', '/event_id', { journey_id: 'j', customer_id: 'c', event_id: '\0e' }],
    [
      '/events/create',
      '/message_id',
      { journey_id: 'j', customer_id: 'c', event_id: 'e', message_id: 'm\0' },
    ],
    ['/journeys', '/name', { name: 'n\0' }],
    ['/journeys', '/description', { name: 'n', description: '\0' }],
    ['/journeys', '/steps/1/event_id', { name: 'n', steps: [step, { ...step, event_id: 'e\0' }] }],
    ['/journeys', '/steps/0/name', { name: 'n', steps: [{ ...step, name: '\0' }] }],
  ])('is refused by POST %s in %s', async (path, pointer, body) => {
    const reply = await post(path, JSON.stringify(body))
    expect(await refusal(reply)).toEqual(
      invalidRequest({
        pointer,
        detail: expect.stringMatching(
          /^must (not contain a|contain a visible character and no) NUL character$/,
        ),
      }),
    )
  })
})

describe('the shape of a body', () => {
  it('is reported with five faults at once', async () => {
    const body = { client_customer_id: '', customer_type: 'person', customer_name: 7, journey: 'j' }
    const { code, errors } = await refusal(await post('/customers/initialize', JSON.stringify(body)))
    expect(code).toBe('invalid_request')
    expect(errors).toHaveLength(5)
    expect(errors).toEqual(
      expect.arrayContaining([
        { pointer: '/journey_id', detail: 'is required' },
        { pointer: '/client_customer_id', detail: 'must not be empty' },
        { pointer: '/customer_type', detail: 'must be one of: account, contact' },
        { pointer: '/customer_name', detail: 'must be string' },
        { pointer: '/journey', detail: expect.stringContaining('not a field') },
      ]),
    )
  })

  it.each([
    ...['null', '[]', '[{}]', '"text"', '""', '0', '1.5', 'true', 'false'].map((body) => [
      body,
      'must be object',
    ]),
    ['', 'a JSON body is required'],
  ])('is refused at its root if it is %j: %s', async (body, detail) => {
    for (const path of ['/customers/initialize', '/events/create', '/journeys']) {
      expect(await refusal(await post(path, body))).toEqual(invalidRequest({ pointer: '', detail }))
    }
  })

  it.each(['null', '[]', '1', 'true'])('refuses %s as custom_variables', async (variables) => {
    const reply = await createEvent(eventWith(`"custom_variables":${variables}`))
    expect(await refusal(reply)).toEqual(
      invalidRequest({ pointer: '/custom_variables', detail: 'must be object or string' }),
    )
  })
})

/** The value that a JSON Pointer (RFC 6901) refers to. */
function resolve(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, step) => {
      const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
      return isThere ? (value as Record<string, unknown>)[step] : undefined
    }, value)
}

describe('the pointer of an unknown field', () => {
  it.each([
    ['a/b', '/a~1b'],
    ['/', '/~1'],
    ['~', '/~0'],
    ['~1', '/~01'],
    ['~0/~1', '/~00~1~01'],
    ['', '/'],
    [' ', '/ '],
    ['"', '/"'],
    ['\\', '/\\'],
    ['%2F', '/%2F'],
    ['ä\u{1f600}', '/ä\u{1f600}'],
    ['0', '/0'],
    ['-', '/-'],
    ['custom_variable', '/custom_variable'],
    ['custom_variables/a', '/custom_variables~1a'],
    ['event_id/', '/event_id~1'],
    ['body', '/body'],
  ])('names %j as %s', async (name, pointer) => {
    const body = JSON.stringify({ ...event, [name]: 'here' })
    expect(await refusal(await createEvent(body))).toEqual(
      invalidRequest({ pointer, detail: expect.stringContaining('not a field') }),
    )
  })

  it('points to one with an empty name in an item of a list', async () => {
    const body = {
      name: 'n',
      steps: [
        { event_id: 'e', name: 'n' },
        { event_id: 'f', name: 'n', '': 1 },
      ],
    }
    const { errors } = await refusal(await post('/journeys', JSON.stringify(body)))
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['/steps/1/'])
  })

  it('resolves in the body, also among names that look like pointers', async () => {
    const step = { event_id: 'e', name: 'n', 'a/b': 'here', '~': 'here', 'name/': 'here' }
    const body = {
      name: 'n',
      steps: [step, step],
      'steps/0': 'here',
      'steps/0/a': 'here',
      a: 'here',
      'a/b': 'here',
      '/a': 'here',
      '//': 'here',
      '~1': 'here',
    }
    const { errors = [] } = await refusal(await post('/journeys', JSON.stringify(body)))
    expect(errors).toHaveLength(13)
    expect(errors.map(({ pointer = '' }) => resolve(body, pointer))).toEqual(Array(13).fill('here'))
    expect(new Set(errors.map(({ pointer }) => pointer)).size).toBe(13)
  })

  it('is truncated if the name is very long, quickly', async () => {
    const took_ms = await processorTime_ms(async () => {
      for (const name of ['/'.repeat(30_000), '~'.repeat(60_000), 'x'.repeat(60_000), 'a/'.repeat(30_000)]) {
        const { errors } = await refusal(await createEvent(JSON.stringify({ ...event, [name]: 1 })))
        const pointer = errors?.[0]?.pointer ?? ''
        expect(pointer.length).toBeGreaterThan(1990)
        expect(pointer).toMatch(/^\/([^~/]|~[01])*$/)
      }
    })
    expect(took_ms).toBeLessThan(2000)
  })
})

describe('a body full of faults', () => {
  /** Sends a body that must be refused, and measures the size of the response and the cost. */
  async function refused(path: string, body: string) {
    expect(body.length).toBeLessThanOrEqual(65_536)
    let text = ''
    const took_ms = await processorTime_ms(async () => {
      text = await (await post(path, body)).text()
    })
    return { ...JSON.parse(text), size: text.length, took_ms }
  }

  it.each([
    ['missing fields', '/journeys', `{"name":"n","steps":[${Array(9_000).fill('{}').join()}]}`],
    ['fields without a name', '/journeys', `{"name":"n","steps":[${Array(9_000).fill('{"":1}').join()}]}`],
    ['wrong types', '/journeys', `{"name":"n","steps":[${Array(30_000).fill(1).join()}]}`],
    [
      'unknown fields',
      '/customers/initialize',
      `{${Array.from({ length: 4_500 }, (_, index) => `"x${index}":1`).join()}}`,
    ],
    ['repeated names', '/events/create', `{"custom_variables":{${Array(4_500).fill('"a":1').join()}}}`],
    ['endless numbers', '/events/create', `{"custom_variables":[${Array(10_000).fill('1e999').join()}]}`],
    [
      'repeated names after a value that nests too deep',
      '/events/create',
      `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)},"b":{${Array(4_500).fill('"a":1').join()}}}`,
    ],
  ])('lists 100 and reports that there are more, quickly: %s', async (_name, path, body) => {
    const { status, errors, errors_omitted, size, took_ms } = await refused(path, body)
    expect(status).toBe(400)
    expect(errors).toHaveLength(100)
    expect(errors_omitted).toBeGreaterThan(0)
    expect(errors_omitted).toBeLessThan(1000)
    expect(size).toBeLessThan(250_000)
    expect(took_ms).toBeLessThan(2000)
  })

  it('lists fewer if the pointers are long', async () => {
    const body = `{"${'/'.repeat(2000)}":[${Array(6_000).fill('"\\ud800"').join()}]}`
    const { errors, errors_omitted, size } = await refused('/events/create', body)
    expect(errors).toHaveLength(10)
    expect(errors[0].pointer).toMatch(/^\/(~1)+\/?$/)
    expect(errors_omitted).toBeGreaterThan(0)
    expect(size).toBeLessThan(25_000)
  })
})
