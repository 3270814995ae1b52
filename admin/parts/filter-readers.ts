import { lengthOf } from './duration-text.ts'
import { nameLimit } from './field-faults.ts'

/** How a filter is read from the address, where anybody may have written anything. */
export type FilterReader<Value extends string = string> = {
  /** The value in the form in which the API takes it; undefined where the text is none. Never asked for ''. */
  read: (text: string) => Value | undefined
  /** What the text should be: `a time such as …`. */
  form: string
}

/** A name, an identifier or words to search for. */
export const text: FilterReader = {
  // The contract counts characters, not the UTF-16 units of `length`.
  read: (text) => ([...text].length <= nameLimit && !text.includes('\0') ? text : undefined),
  form: `a text of at most ${nameLimit} characters`,
}

/** One of some words. */
export function oneOf<const Word extends string>(words: readonly Word[]): FilterReader<Word> {
  return {
    read: (text) => words.find((word) => word === text),
    form: words.length === 1 ? `“${words[0]}”` : `one of ${words.join(', ')}`,
  }
}

const rfc3339 = /^(?<day>(?:19|[2-9]\d)\d\d-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** An instant of the years that the contract knows, read as UTC. */
export const instant: FilterReader = {
  read(text) {
    // A plus that was written as it is stands for a blank in a query string, and no instant has a blank there.
    const written = text.replace(/ (?=\d\d:\d\d$)/, '+')
    const day = rfc3339.exec(written)?.groups?.day
    // Date takes 30 February for 2 March.
    if (!day || !isoOf(`${day}T00:00:00Z`)?.startsWith(day)) return undefined
    return isoOf(written)
  },
  form: 'a time such as 2026-11-20T09:30:00Z, from the year 1900 on',
}

function isoOf(text: string): string | undefined {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) return undefined
  const iso = at.toISOString()
  return iso >= '1900' && iso < ':' ? iso : undefined
}

/** A length of time, longer than nothing. */
export const duration: FilterReader = {
  read: (text) => (lengthOf(text) ? text : undefined),
  form: 'a length of time such as P7D or PT36H',
}

/** The code of a problem. */
export const code: FilterReader = {
  read: (text) => (/^[a-z_]{1,64}$/.test(text) ? text : undefined),
  form: 'a code such as customer_not_found',
}

/** The number of a step, of which there are `steps`. */
export function stepNumber(steps: number): FilterReader {
  return {
    read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= steps ? text : undefined),
    form: steps === 0 ? 'a step, of which the journey has none' : `the number of a step, from 1 to ${steps}`,
  }
}

/** The contract takes no more steps in a journey. */
export const stepLimit = 100
