import { type IdPrefix, unmadeId } from './identifiers.ts'

/** A position in a list that is sorted by an instant and an identifier, newest first or oldest first. */
export type Position = { ms: number; id: string }

/** Shifts the instants of the contract, which begin in 1900, into what 12 hexadecimal digits hold without a sign. */
const BIAS_MS = 2 ** 42

/** The last instant that a cursor can have, beyond those of the contract: of what comes before all others in its list. */
export const FOREMOST_MS = 2 ** 48 - 1 - BIAS_MS

/** What comes before all others in a list that is sorted oldest first, or of one instant. */
export function firstPosition(prefix: IdPrefix | 'evt', ms = 0): Position {
  return { ms, id: unmadeId(prefix) }
}

/** The cursor of a position: 12 hexadecimal digits of time and the last 26 characters of the identifier. */
export function cursorText({ ms, id }: Position): string {
  return (ms + BIAS_MS).toString(16).padStart(12, '0') + id.slice(-26)
}

/** The position of a cursor. Every text that matches the contract's pattern has one. */
export function cursorPosition(cursor: string, prefix: IdPrefix | 'evt'): Position {
  return { ms: Number.parseInt(cursor.slice(0, 12), 16) - BIAS_MS, id: `${prefix}_${cursor.slice(12)}` }
}

/** Whether a position lies behind another in a list that is sorted newest first; every one does where there is no other. */
export function isBehind(position: Position, after: Position | undefined): boolean {
  return !after || isBefore(position, after)
}

/** Whether a position comes before another in a list that is sorted oldest first. */
export function isBefore(position: Position, other: Position): boolean {
  return position.ms < other.ms || (position.ms === other.ms && position.id < other.id)
}
