import { eventIdText } from '../../domain/identifiers.ts'

/** An identifier of an event begins with its time, in so many bytes. */
const TIME_BYTES = 6
const ID_BYTES = 16

/**
 * What the table of events keeps of an identifier, beside the event's time of receipt: the ten bytes behind its own time
 * where that is the same, as nearly always, and all sixteen where the clock was behind the event before.
 */
export type Kept = { id: Uint8Array; received_ms: number }

/** What is kept of the 16 bytes of an identifier. */
export function keptId(id: Uint8Array, received_ms: number): Uint8Array {
  return timeOf(id) === received_ms ? restOf(id) : id
}

/** The 16 bytes. */
export function wholeId({ id, received_ms }: Kept): Uint8Array {
  if (id.length === ID_BYTES) return id
  const whole = Buffer.allocUnsafe(ID_BYTES)
  whole.writeUIntBE(received_ms, 0, TIME_BYTES)
  whole.set(id, TIME_BYTES)
  return whole
}

/** `evt_…` */
export function wholeIdText(kept: Kept): string {
  return eventIdText(wholeId(kept))
}

/** All digits of an identifier. @param digits those of the bytes that are kept */
export function wholeDigits(digits: string, received_ms: number): string {
  if (digits.length === 2 * ID_BYTES) return digits
  return received_ms.toString(16).padStart(2 * TIME_BYTES, '0') + digits
}

/** The milliseconds with which an identifier begins. */
export function timeOf(id: Uint8Array): number {
  let ms = 0
  for (let index = 0; index < TIME_BYTES; index += 1) ms = ms * 256 + (id[index] as number)
  return ms
}

/** Whether an event's identifier is this one or a later one, of `sought`. */
export const IS_FROM =
  '(CASE length(id) WHEN 16 THEN id >= @id ELSE (received_ms, id) >= (@time_ms, @rest) END)'

/** An identifier as `IS_FROM` compares with it. */
export function sought(id: Uint8Array) {
  return { id, time_ms: timeOf(id), rest: restOf(id) }
}

function restOf(id: Uint8Array): Uint8Array {
  return id.subarray(TIME_BYTES)
}
