import fc from 'fast-check'
import type { StandingEvent } from '../../../server/domain/journey-standing.ts'
import type { ModelEnrolment, ModelEvent, ModelJourney } from './model.ts'

/** Returns a key with as many digits as SQLite's engine uses. */
export function key(number: number): string {
  return number.toString(16).padStart(10, '0')
}

/** Instants from the year 0 to 9999: often equal ones, and ones around 1970. */
export const instants: fc.Arbitrary<number> = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: -6, max: 6 }) },
  {
    weight: 1,
    arbitrary: fc.integer({
      min: Date.parse('0000-01-01T00:00:00Z'),
      max: Date.parse('9999-12-31T23:59:59.999Z'),
    }),
  },
)

/** Journeys of a few customers with events of few names, so that steps, ties and detours collide. */
export function journeys(names: readonly string[], { customers = 4 } = {}): fc.Arbitrary<ModelJourney> {
  const enrolments = fc
    .uniqueArray(fc.integer({ min: 1, max: customers }), { minLength: 1, maxLength: customers })
    .chain((numbers) =>
      fc.tuple(
        ...numbers.map((number) =>
          fc.record<ModelEnrolment>({
            customer: fc.constant(key(number)),
            customer_type: fc.constantFrom('account', 'contact'),
            at_ms: instants,
          }),
        ),
      ),
    )
  return enrolments.chain((enrolments) => {
    const event = fc.record({
      customer: fc.constantFrom(...enrolments.map(({ customer }) => customer)),
      name: fc.constantFrom(...names, 'detour'),
      at_ms: instants,
    })
    return fc.array(event, { maxLength: 16 * customers, size: 'max' }).map((events) => ({
      enrolments,
      events: events.map((event, index): ModelEvent => ({ ...event, id: key(index + 1) })),
    }))
  })
}

/** The same items in any order, some of them twice, in slices. */
export function arrivals<Item>(items: readonly Item[]): fc.Arbitrary<Item[][]> {
  const order = fc.shuffledSubarray([...items], { minLength: items.length })
  const again = fc.subarray([...items])
  return fc
    .tuple(order, again, fc.infiniteStream(fc.integer({ min: 1, max: 6 })))
    .map(([order, again, sizes]) => {
      const all = [...order, ...again]
      const slices: Item[][] = []
      while (all.length > 0) slices.push(all.splice(0, sizes.next().value))
      return slices
    })
}

/** Sorts events by time; at one instant by key, which is not the order of the steps. */
export function inTime<Event extends StandingEvent>(events: readonly Event[]): Event[] {
  return [...events].sort((one, other) => one.at_ms - other.at_ms || (one.id < other.id ? -1 : 1))
}
