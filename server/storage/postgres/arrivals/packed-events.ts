/** The expression that packs an event from a row of `events`. No text in PostgreSQL contains the byte 0. */
export const PACKED_EVENT =
  "uuid_send(id) || uuid_send(customer_id) || int8send(at_ms) || convert_to(event_id, 'UTF8') || '\\x00'::bytea"

const CUSTOMER = 16
const INSTANT = 32
const NAME = 40

/**
 * Events packed one after the other in one value by PostgreSQL. Of tens of thousands hardly any needs an object, and
 * the garbage collector does not have to keep them until all are there.
 */
export class PackedEvents {
  readonly #bytes: Buffer
  /** The start of each, followed by the end of the last. */
  readonly #places: readonly number[]

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const places = [0]
    for (let place = 0; place < bytes.length; ) {
      place = bytes.indexOf(0, place + NAME) + 1
      places.push(place)
    }
    this.#places = places
  }

  get length(): number {
    return this.#places.length - 1
  }

  /** As 32 digits. */
  id(index: number): string {
    const place = this.#place(index)
    return this.#bytes.toString('hex', place, place + CUSTOMER)
  }

  /** The instant in its identifier. */
  created_ms(index: number): number {
    return this.#bytes.readUIntBE(this.#place(index), 6)
  }

  /** The customer's identifier as 32 digits. */
  customer(index: number): string {
    const place = this.#place(index)
    return this.#bytes.toString('hex', place + CUSTOMER, place + INSTANT)
  }

  at_ms(index: number): number {
    const place = this.#place(index) + INSTANT
    return this.#bytes.readInt32BE(place) * 2 ** 32 + this.#bytes.readUInt32BE(place + 4)
  }

  name(index: number): string {
    return this.#bytes.toString('utf8', this.#place(index) + NAME, this.#place(index + 1) - 1)
  }

  #place(index: number): number {
    return this.#places[index] as number
  }
}
