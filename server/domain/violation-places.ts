import type { components } from '../../generated/contract.ts'
import type { DefinedValue } from './event-definitions.ts'

type Violation = components['schemas']['Violation']

/** Returns the pointer of a violation with `-` for the items of arrays, which count as one place. */
export function placeOf(pointer: string, variables: DefinedValue): string {
  const [start, top, ...names] = pointer.split('/')
  let defined: DefinedValue | undefined = variables
  const places = names.map((name) => {
    const isItem: boolean = defined?.items !== undefined && /^[0-9]+$/.test(name)
    defined = isItem ? defined?.items : defined?.properties?.[name]
    return isItem ? '-' : name
  })
  return [start, top, ...places].join('/')
}

/** Maximum length of a pointer that is counted. */
const PLACE_LENGTH = 200

/** What the names of fields look like; an email, a phone number or a sentence does not. */
const FIELD_NAME = /^[A-Za-z_$][A-Za-z0-9_$.-]{0,39}$/
const MOST_DIGITS = 4

/**
 * Returns the place at which a violation is counted. Senders choose the names of undefined fields, so one that may be a
 * value counts at the object that it is in, as does a place that is too long.
 */
export function countedPlace(
  { code, pointer }: Pick<Violation, 'code' | 'pointer'>,
  variables: DefinedValue,
): string {
  let place = placeOf(pointer, variables)
  if (code === 'unexpected' && !isFieldName(place.slice(place.lastIndexOf('/') + 1))) place = parentOf(place)
  while (place.length > PLACE_LENGTH) place = parentOf(place)
  return place
}

/** Whether a name that a sender chose is one of a field, rather than a value. */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name) && name.replace(/[^0-9]/g, '').length <= MOST_DIGITS
}

function parentOf(place: string): string {
  return place.slice(0, place.lastIndexOf('/'))
}
