// engines: none (nothing reaches a server)
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createClient } from '../../client/client.ts'
import { createTracker } from '../../client/tracker.ts'

const event = { journey_id: 'jrn_1', customer_id: 'cus_1', event_id: 'signed_up' }

/** A client, and what it sends on the wire. */
function newClient() {
  const bodies: string[] = []
  const options = {
    baseUrl: 'http://127.0.0.1/v1',
    serviceKey: 'pk_1',
    async fetch(request: Request) {
      bodies.push(await request.text())
      return Response.json({ success: true, id: 'evt_1', duplicate: false, received_at: '' }, { status: 201 })
    },
  }
  return { options, client: createClient(options), bodies }
}

it.each<[name: string, value: unknown]>([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['undefined', undefined],
  ['a function', () => 1],
  ['a symbol', Symbol('a')],
  ['a BigInt', 1n],
  ['a Map', new Map([[1, 2]])],
  ['a Set', new Set([1])],
  ['a typed array', new Uint8Array(2)],
  ['an ArrayBuffer', new ArrayBuffer(2)],
  ['a RegExp', /a/],
  ['an Error', new Error('lost')],
  [
    'an object of a class',
    new (class Price {
      amount = 1
    })(),
  ],
  ['a boxed number', new Number(1)],
  ['a Promise', Promise.resolve(1)],
  ['an invalid Date', new Date(Number.NaN)],
  ['a toJSON that answers nothing', { toJSON: () => undefined }],
])('%s is refused with its position, and nothing is sent', async (_name, value) => {
  const { client, options, bodies } = newClient()
  const custom_variables = { cart: [{ 'a/b~': value }] }
  const place = '/custom_variables/cart/0/a~1b~0 must be a JSON value'
  await expect(client.createEvent({ body: { ...event, custom_variables } })).rejects.toThrow(
    new TypeError(place),
  )
  const events = [event, { ...event, custom_variables }]
  await expect(client.createEvents({ body: { events } })).rejects.toThrow(new TypeError(`/events/1${place}`))
  expect(bodies).toEqual([])
  const customer = {
    client_customer_id: 'c',
    customer_type: 'contact',
    customer_name: 'C',
    journey_id: 'j',
  } as const
  const tracker = createTracker({ ...options, customer })
  await expect(tracker.track('signed_up', custom_variables)).rejects.toThrow(new TypeError(place))
  await tracker.close()
})

it('a hole in an array is refused, and variables that are a list or a Map', async () => {
  const { client } = newClient()
  const send = (custom_variables: object) =>
    client.createEvent({ body: { ...event, custom_variables: { ...custom_variables } } })
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  await expect(send({ list: [1, , 3] })).rejects.toThrow('/custom_variables/list/1 must be a JSON value')
  const body = { ...event, custom_variables: new Map() as object as Record<string, unknown> }
  await expect(client.createEvent({ body })).rejects.toThrow('/custom_variables must be a JSON value')
})

it('JSON values are sent unchanged: also from another window, without a prototype, by toJSON', async () => {
  const { client, bodies } = newClient()
  const custom_variables = {
    plain: { a: [null, true, 'x', -0, 1e300] },
    elsewhere: runInNewContext('({ a: [1, { b: 2 }] })'),
    bare: Object.assign(Object.create(null), { c: 1 }),
    at: new Date(0),
    page: new URL('https://example.com/'),
    ['__proto__']: 1,
  }
  await client.createEvent({ body: { ...event, custom_variables } })
  await client.createEvent({ body: { ...event, custom_variables: 'a text' } })
  await client.createEvent({ body: event })
  expect(bodies.map((body) => JSON.parse(body).custom_variables)).toEqual([
    JSON.parse(JSON.stringify(custom_variables)),
    'a text',
    undefined,
  ])
})

it('a cycle is a TypeError, as by JSON.stringify', async () => {
  const { client } = newClient()
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  await expect(client.createEvent({ body: { ...event, custom_variables: cyclic } })).rejects.toThrow(
    TypeError,
  )
})
