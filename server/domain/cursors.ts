import { type IdPrefix, unmadeId } from './identifiers.ts'

/** A position in a list sorted by instant and identifier, newest first or oldest first (keyset pagination). */
export type Position = { ms: number; id: string }

/**
 * Offset that makes the contract's instants, which start in 1900, non-negative, so that 12 hexadecimal digits hold
 * them.
 */
const BIAS_MS = 2 ** 42

/**
 * The latest instant that a cursor can have, after all those of the contract: a position before the first item of a
 * list.
 */
export const FOREMOST_MS = 2 ** 48 - 1 - BIAS_MS

/** Returns the position before all others in a list sorted oldest first, or of one instant. */
export function firstPosition(prefix: IdPrefix | 'evt', ms = 0): Position {
  return { ms, id: unmadeId(prefix) }
}

/** Encodes a position: 12 hexadecimal digits of time and the last 26 characters of the identifier. */
export function cursorText({ ms, id }: Position): string {
  return (ms + BIAS_MS).toString(16).padStart(12, '0') + id.slice(-26)
}

/** Decodes a cursor. Every text that matches the contract's pattern is a position. */
export function cursorPosition(cursor: string, prefix: IdPrefix | 'evt'): Position {
  return { ms: Number.parseInt(cursor.slice(0, 12), 16) - BIAS_MS, id: `${prefix}_${cursor.slice(12)}` }
}

/** Whether a position comes after another in a list sorted newest first; always true if there is no other. */
export function isBehind(position: Position, after: Position | undefined): boolean {
  return !after || isBefore(position, after)
}

/** Whether a position comes before another in a list sorted oldest first. */
export function isBefore(position: Position, other: Position): boolean {
  return position.ms < other.ms || (position.ms === other.ms && position.id < other.id)
}
