import type { IdPrefix } from './identifiers.ts'

/** A position in a list that is sorted by an instant and an identifier, newest first. */
export type Position = { ms: number; id: string }

/** Shifts the instants of the contract, which begin in 1900, into what 12 hexadecimal digits hold without a sign. */
const BIAS_MS = 2 ** 42

/** The cursor of a position: 12 hexadecimal digits of time and the last 26 characters of the identifier. */
export function cursorText({ ms, id }: Position): string {
  return (ms + BIAS_MS).toString(16).padStart(12, '0') + id.slice(-26)
}

/** The position of a cursor. Every text that matches the contract's pattern has one. */
export function cursorPosition(cursor: string, prefix: IdPrefix | 'evt'): Position {
  return { ms: Number.parseInt(cursor.slice(0, 12), 16) - BIAS_MS, id: `${prefix}_${cursor.slice(12)}` }
}
