import { countText } from '../number-text.ts'
import { isVisible } from '../visible-name.ts'

/** The contract's maximum length of a name or an identifier, in characters. */
export const nameLimit = 255

/** The contract's maximum number of steps in a journey. */
export const stepLimit = 100

/** Why the contract would reject a `GivenName`; `missing` is the message for an empty one. */
export function givenNameFault(name: string, missing: string): string | undefined {
  if (name && !isVisible(name)) return 'Use at least one visible character.'
  return nameFault(name, missing)
}

/** Why the contract would reject a `Name` (any characters); `missing` is the message for an empty one. */
export function nameFault(name: string, missing: string): string | undefined {
  return name ? lengthFault(name, nameLimit) : missing
}

/** Why the contract would reject the description of a journey, an event or a variable. */
export function descriptionFault(description: string): string | undefined {
  return lengthFault(description, 2000)
}

/** Why the contract would reject a text of at most `limit` characters. */
export function lengthFault(text: string, limit: number): string | undefined {
  // The contract counts characters, not the UTF-16 units of `length`.
  const length = [...text].length
  if (length <= limit) return undefined
  return `Use at most ${countText(limit)} characters. This has ${countText(length)}.`
}

/** Only the fields with an error, for a form's `validate`. */
export function onlyFaults(faults: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(faults).filter((entry): entry is [string, string] => !!entry[1]))
}
