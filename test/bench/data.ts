import { randomInt, randomUUID } from 'node:crypto'

/** Number of customers; each event belongs to one chosen at random. */
export const CUSTOMERS = 20_000

/** Events in a batch. */
export const BATCH_EVENTS = 1000

/** `mixed`: alternately UUIDv7, as our client generates them, and UUIDv4, as most other programs do. */
export type MessageIds = 'v7' | 'v4' | 'mixed'

type Customer = { client_customer_id: string; customer_name: string }

/** The customer with this number. Those below `CUSTOMERS` are initialized on every server before it is measured. */
function customer(number: number): Customer {
  return { client_customer_id: `user-${number}`, customer_name: `Customer number ${number}` }
}

/** The body that initializes a customer. */
export function initializeText(journey_id: string, number: number): string {
  return JSON.stringify({ ...customer(number), journey_id, customer_type: 'contact' })
}

/** A target workspace: its key, its journeys, and the customers enrolled in all of them. */
export type Subject = { key: string; journey_ids: string[]; customerIds: string[] }

/** `wide`: 100 workspaces with ten journeys each and 100,000 names; `narrow`: one journey and four names. */
export type Breadth = 'narrow' | 'wide'

export const WIDE_WORKSPACES = 100
export const WIDE_JOURNEYS = 10
const WIDE_NAMES = 100_000

export type EventsOptions = {
  subjects: Subject[]
  breadth: Breadth
  messageIds: MessageIds
  /** How many variables each event has; three by default. */
  variables?: 'three' | 'ten' | undefined
}

/** A body, and the key to send it with. */
export type Body = { key: string; body: string }

/** Generates unique events, with a new `message_id` of 36 characters and three or ten variables each. */
export class Events {
  readonly #subjects: Subject[]
  readonly #breadth: Breadth
  readonly #messageIds: MessageIds
  readonly #others: string
  #made = 0

  constructor({ subjects, breadth, messageIds, variables }: EventsOptions) {
    this.#subjects = subjects
    this.#breadth = breadth
    this.#messageIds = messageIds
    this.#others = variables === 'ten' ? SEVEN_OTHERS : ''
  }

  single(): Body {
    const subject = oneOf(this.#subjects)
    return { key: subject.key, body: this.#text(subject) }
  }

  /** A batch, all for one workspace, because a key belongs to one. */
  batch(): Body {
    const subject = oneOf(this.#subjects)
    const texts = Array.from({ length: BATCH_EVENTS }, () => this.#text(subject))
    return { key: subject.key, body: `{"events":[${texts.join(',')}]}` }
  }

  /** The fields of an event; the variables as JSON text. */
  next({ journey_ids, customerIds }: Subject) {
    this.#made += 1
    const isOrdered = this.#messageIds === 'v7' || (this.#messageIds === 'mixed' && this.#made % 2 === 0)
    return {
      message_id: isOrdered ? orderedUuid() : randomUUID(),
      journey_id: oneOf(journey_ids),
      customer_id: oneOf(customerIds),
      name: this.#breadth === 'wide' ? `event_${Math.floor(Math.random() * WIDE_NAMES)}` : oneOf(EVENT_NAMES),
      variables: `{"plan":"team","seats":${this.#made % 1000},"trial":${this.#made % 3 === 0}${this.#others}}`,
    }
  }

  // Concatenated as text: JSON.stringify would take a third of the load's core for batches.
  #text(subject: Subject): string {
    const { message_id, journey_id, customer_id, name, variables } = this.next(subject)
    return `{"journey_id":"${journey_id}","customer_id":"${customer_id}","event_id":"${name}","message_id":"${message_id}","custom_variables":${variables}}`
  }
}

/** What makes ten variables of three. */
const SEVEN_OTHERS = `,${JSON.stringify({
  currency: 'EUR',
  price: 49.5,
  coupon: null,
  source: { name: 'newsletter', campaign: 'autumn-2026' },
  tags: ['annual', 'upgrade'],
  page: 'https://www.example.com/pricing',
  began_at: '2026-11-20T09:30:00.250+01:00',
}).slice(1, -1)}`

function oneOf<Item>(items: Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item
}

/** The event names of `narrow`, which are also the steps of the journey of reports. */
export const EVENT_NAMES = ['signed_up', 'plan_chosen', 'teammate_invited', 'first_report_opened']

/** A random number above `CUSTOMERS`, for a customer that is new to every store. */
export function newCustomerNumber(): number {
  return CUSTOMERS + randomInt(2 ** 40)
}

/** A UUIDv7 like `newMessageId` of our client, at a tenth of its cost to the load's core. */
function orderedUuid(): string {
  const ms = Date.now().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`
}
