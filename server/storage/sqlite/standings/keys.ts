import type { Key } from '../../../domain/journey-standing.ts'

/** The numbers of events go beyond 32 bits; those of customers and journeys have as many digits, for keys have one length. */
const DIGITS = 10

export function keyOf(number: number): Key {
  return number.toString(16).padStart(DIGITS, '0')
}

export function numberOf(key: Key): number {
  return Number.parseInt(key, 16)
}
