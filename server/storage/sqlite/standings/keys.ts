import type { Key } from '../../../domain/journey-standing.ts'

/** Event numbers go beyond 32 bits; customers and journeys use as many digits, because all keys have one length. */
const DIGITS = 10

export function keyOf(number: number): Key {
  return number.toString(16).padStart(DIGITS, '0')
}

export function numberOf(key: Key): number {
  return Number.parseInt(key, 16)
}
