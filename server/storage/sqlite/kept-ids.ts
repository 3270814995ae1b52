import { typeIdText } from '../../domain/identifiers.ts'

/** An identifier of an event starts with its time, in this many bytes. */
const TIME_BYTES = 6
const ID_BYTES = 16

/**
 * What the table of events stores of an identifier, beside the time of receipt: the ten bytes after its time if that is
 * the same, as in nearly all cases, or all sixteen if the clock had stepped back.
 */
export type Kept = { id: Uint8Array; received_ms: number }

/** Returns the stored part of an identifier's 16 bytes. */
export function keptId(id: Uint8Array, received_ms: number): Uint8Array {
  return timeOf(id) === received_ms ? restOf(id) : id
}

/** Returns the 16 bytes. */
export function wholeId({ id, received_ms }: Kept): Uint8Array {
  if (id.length === ID_BYTES) return id
  const whole = Buffer.allocUnsafe(ID_BYTES)
  whole.writeUIntBE(received_ms, 0, TIME_BYTES)
  whole.set(id, TIME_BYTES)
  return whole
}

/** `evt_…` */
export function wholeIdText(kept: Kept): string {
  return typeIdText('evt', wholeId(kept))
}

/** Returns all digits of an identifier. @param digits those of the stored bytes */
export function wholeDigits(digits: string, received_ms: number): string {
  if (digits.length === 2 * ID_BYTES) return digits
  return received_ms.toString(16).padStart(2 * TIME_BYTES, '0') + digits
}

/** Returns the milliseconds with which an identifier starts. */
export function timeOf(id: Uint8Array): number {
  let ms = 0
  for (let index = 0; index < TIME_BYTES; index += 1) ms = ms * 256 + (id[index] as number)
  return ms
}

/** Whether an event's identifier is at or after the one given by `sought`. */
export const IS_FROM =
  '(CASE length(id) WHEN 16 THEN id >= @id ELSE (received_ms, id) >= (@time_ms, @rest) END)'

/** Returns an identifier in the form that `IS_FROM` compares with. */
export function sought(id: Uint8Array) {
  return { id, time_ms: timeOf(id), rest: restOf(id) }
}

function restOf(id: Uint8Array): Uint8Array {
  return id.subarray(TIME_BYTES)
}
