// engines: sqlite, postgres

import { afterAll, beforeAll, expect, it } from 'vitest'
import { operations } from '../fixtures/contract/document.ts'
import { openTarget, type Target } from '../fixtures/contract/target.ts'
import {
  callersOf,
  namesFor,
  newCustomer,
  newJourney,
  newPlace,
  type Place,
  sendTo,
  UNKNOWN,
} from './requests.ts'

let target: Target
let place: Place
let journey_id: string
/** A store that numbers its rows gives some of them the numbers of journeys, also of another workspace's. */
let customers: string[]

beforeAll(async () => {
  target = await openTarget()
  await target.cairn?.workspace()
  place = await newPlace(target)
  journey_id = await newJourney(place)
  customers = []
  for (const _ of Array(3)) customers.push(await newCustomer(place, journey_id))
})
afterAll(() => target.stop())

/** Each identifier in the path of an operation. */
const rows = operations.flatMap((operation) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'path' && parameter.name.endsWith('_id'))
    .flatMap(({ name }) =>
      callersOf(operation)
        .slice(0, 1)
        .map((caller) => ({ operation, name, caller })),
    ),
)

it.each(rows)(
  '$operation.operationId finds nothing by a $name that is of another kind',
  async ({ operation, name, caller }) => {
    const names = await namesFor(place, operation)
    const answered = async (id: string) => {
      const reply = await sendTo(place, operation, caller, { names: { ...names, [name]: id } })
      return [reply.status, (await reply.json()).code]
    }
    const unknown = await answered(UNKNOWN)
    expect(unknown[0]).toBe(404)
    const others = name === 'customer_id' ? [journey_id] : customers
    for (const id of [...others, names[name]?.replace(/^[a-z]+_/, 'x_') ?? '']) {
      expect(await answered(id), id).toEqual(unknown)
    }
  },
)
