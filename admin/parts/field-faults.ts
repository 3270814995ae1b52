import { isVisible } from './visible-name.ts'

/** The contract takes no more characters in a name or an identifier. */
export const nameLimit = 255

/** What the contract would refuse of a name that is given (`GivenName`); `missing` is what to say of an empty one. */
export function givenNameFault(name: string, missing: string): string | undefined {
  if (name && !isVisible(name)) return 'Use a character that can be seen; blanks alone are no name.'
  return nameFault(name, missing)
}

/** What the contract would refuse of a name of any characters (`Name`); `missing` is what to say of an empty one. */
export function nameFault(name: string, missing: string): string | undefined {
  return name ? lengthFault(name, nameLimit) : missing
}

/** What the contract would refuse of a text of at most `limit` characters. */
export function lengthFault(text: string, limit: number): string | undefined {
  // The contract counts characters, not the UTF-16 units of `length`.
  const length = [...text].length
  if (length <= limit) return undefined
  return `At most ${limit.toLocaleString('en')} characters; this has ${length.toLocaleString('en')}.`
}

/** The fields that have a fault, for a form's `validate`. */
export function onlyFaults(faults: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(faults).filter((entry): entry is [string, string] => !!entry[1]))
}
