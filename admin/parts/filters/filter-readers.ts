import { nameLimit } from '../forms/field-faults.ts'
import { lengthOf } from '../instants/duration-text.ts'

/** How a filter is parsed from the address, which may contain anything. */
export type FilterReader<Value extends string = string> = {
  /** The value in the API's format; undefined if the text is invalid. Never called with ''. */
  read: (text: string) => Value | undefined
  /** The expected format: `a time such as …`. */
  form: string
}

/** The reader of each value of a filter that can be set several times. */
export type ListReader = FilterReader & {
  /** How many values there can be. */
  most: number
}

/** A name, an identifier or search words. */
export const text: FilterReader = {
  // The contract counts characters, not the UTF-16 units of `length`.
  read: (text) => ([...text].length <= nameLimit && !text.includes('\0') ? text : undefined),
  form: `text of at most ${nameLimit} characters`,
}

/** One of the given words. */
export function oneOf<const Word extends string>(words: readonly Word[]): FilterReader<Word> {
  return {
    read: (text) => words.find((word) => word === text),
    form: words.length === 1 ? `“${words[0]}”` : `one of ${words.join(', ')}`,
  }
}

const rfc3339 = /^(?<day>(?:19|[2-9]\d)\d\d-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** An instant within the years that the contract accepts, converted to UTC. */
export const instant: FilterReader = {
  read(text) {
    // An unencoded plus decodes to a space, and no instant has a space there.
    const written = text.replace(/ (?=\d\d:\d\d$)/, '+')
    const day = rfc3339.exec(written)?.groups?.day
    // Date parses 30 February as 2 March.
    if (!day || !isoOf(`${day}T00:00:00Z`)?.startsWith(day)) return undefined
    return isoOf(written)
  },
  form: 'a time such as 2026-11-20T09:30:00Z, in 1900 or later',
}

function isoOf(text: string): string | undefined {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) return undefined
  const iso = at.toISOString()
  return iso >= '1900' && iso < ':' ? iso : undefined
}

/** A duration longer than zero. */
export const duration: FilterReader = {
  read: (text) => (lengthOf(text) ? text : undefined),
  form: 'a duration such as P7D or PT36H',
}

/** A problem code. */
export const code: FilterReader = {
  read: (text) => (/^[a-z_]{1,64}$/.test(text) ? text : undefined),
  form: 'a code such as customer_not_found',
}

/** A step number, from 1 to `steps`. */
export function stepNumber(steps: number): FilterReader {
  return {
    read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= steps ? text : undefined),
    form: steps === 0 ? 'empty, because the journey has no steps' : `a step number from 1 to ${steps}`,
  }
}
