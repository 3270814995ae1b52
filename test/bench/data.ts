import { randomInt, randomUUID } from 'node:crypto'

/** How many customers there are; every event is of one taken at random. */
export const CUSTOMERS = 20_000

/** Events in a batch. */
export const BATCH_EVENTS = 1000

/** `mixed`: every other one is a UUIDv7, as our client makes them, the rest UUIDv4, as most others do. */
export type MessageIds = 'v7' | 'v4' | 'mixed'

export type Customer = { client_customer_id: string; customer_name: string }

/** The customer with this number; those below `CUSTOMERS` are known to every server before it is measured. */
export function customer(number: number): Customer {
  return { client_customer_id: `user-${number}`, customer_name: `Customer number ${number}` }
}

/** The body that initializes a customer. */
export function initializeText(journey_id: string, number: number): string {
  return JSON.stringify({ ...customer(number), journey_id, customer_type: 'contact' })
}

export type EventsOptions = { journey_id: string; customerIds: string[]; messageIds: MessageIds }

/** Bodies of events, never the same one twice: each has a new `message_id` of 36 characters and three variables. */
export class Events {
  readonly #start: string
  readonly #customerIds: string[]
  readonly #messageIds: MessageIds
  #made = 0

  constructor({ journey_id, customerIds, messageIds }: EventsOptions) {
    this.#start = `{"journey_id":${JSON.stringify(journey_id)},"customer_id":"`
    this.#customerIds = customerIds
    this.#messageIds = messageIds
  }

  // Put together as text: JSON.stringify would take a third of the load's core when batches are sent.
  single(): string {
    const { message_id, customer, name, variables } = this.next()
    const customerId = this.#customerIds[customer]
    return `${this.#start}${customerId}","event_id":"${name}","message_id":"${message_id}","custom_variables":${variables}}`
  }

  batch(): string {
    return `{"events":[${Array.from({ length: BATCH_EVENTS }, () => this.single()).join(',')}]}`
  }

  /** The parts of an event; the customer by its place in the list, the variables as JSON text. */
  next() {
    this.#made += 1
    const isOrdered = this.#messageIds === 'v7' || (this.#messageIds === 'mixed' && this.#made % 2 === 0)
    return {
      message_id: isOrdered ? orderedUuid() : randomUUID(),
      customer: Math.floor(Math.random() * this.#customerIds.length),
      name: names[this.#made % names.length] ?? '',
      variables: `{"plan":"team","seats":${this.#made % 1000},"trial":${this.#made % 3 === 0}}`,
    }
  }
}

const names = ['signed_up', 'plan_chosen', 'teammate_invited', 'first_report_opened']

/** A number above those of all customers so far, for customers that are new to every store. */
export function newCustomerNumber(): number {
  return CUSTOMERS + randomInt(2 ** 40)
}

/** A UUIDv7 with the bits of our client's `newMessageId`, at a tenth of its cost to the load's core. */
function orderedUuid(): string {
  const ms = Date.now().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`
}
