import { isAmong, isOfFormat, lengthOf } from './definition-values.ts'
import { type DefinedType, type DefinedValue, typesOf } from './event-definitions.ts'

/** Says whether a value conforms. */
export type Fit = (value: unknown) => boolean

/**
 * Returns a function that says whether a value conforms to a definition whose `definitionFaults` are none. Its parts are
 * looked up once, here, so that it takes a third of the time that listing what is wrong takes; nearly every event
 * conforms.
 */
export function fitOf(defined: DefinedValue): Fit {
  const { type, enum: values } = defined
  const isAllowed = (one: DefinedType) => type === undefined || typesOf(defined).includes(one)
  const fitsString = isAllowed('string') ? stringFit(defined) : NEVER
  const fitsNumber = isAllowed('number')
    ? numberFit(defined)
    : isAllowed('integer')
      ? integerFit(defined)
      : NEVER
  const fitsArray = isAllowed('array') ? arrayFit(defined) : NEVER
  const fitsObject = isAllowed('object') ? objectFit(defined) : NEVER
  const [allowsBoolean, allowsNull] = [isAllowed('boolean'), isAllowed('null')]
  const fits = (value: unknown): boolean => {
    switch (typeof value) {
      case 'string':
        return fitsString(value)
      case 'number':
        return fitsNumber(value)
      case 'boolean':
        return allowsBoolean
      case 'object':
        if (value === null) return allowsNull
        return Array.isArray(value) ? fitsArray(value) : fitsObject(value)
      default:
        return type === undefined
    }
  }
  return values ? (value) => isAmong(values, value) && fits(value) : fits
}

const NEVER = () => false
const ALWAYS = () => true

function stringFit({ minLength, maxLength, format }: DefinedValue): (value: string) => boolean {
  const isBounded = minLength !== undefined || maxLength !== undefined
  const [least, most] = [minLength ?? 0, maxLength ?? Number.POSITIVE_INFINITY]
  if (!isBounded && format === undefined) return ALWAYS
  return (value) => {
    if (isBounded) {
      const length = lengthOf(value, { minLength: least, maxLength: most })
      if (length < least || length > most) return false
    }
    return format === undefined || isOfFormat(format, value)
  }
}

function numberFit({ minimum, maximum }: DefinedValue): (value: number) => boolean {
  const [least, most] = [minimum ?? Number.NEGATIVE_INFINITY, maximum ?? Number.POSITIVE_INFINITY]
  return (value) => value >= least && value <= most
}

function integerFit(defined: DefinedValue): (value: number) => boolean {
  const fits = numberFit(defined)
  return (value) => Number.isInteger(value) && fits(value)
}

function arrayFit({ items, minItems, maxItems }: DefinedValue): (value: readonly unknown[]) => boolean {
  const [least, most] = [minItems ?? 0, maxItems ?? Number.POSITIVE_INFINITY]
  const fits = items ? fitOf(items) : ALWAYS
  return (value) => value.length >= least && value.length <= most && value.every(fits)
}

function objectFit(defined: DefinedValue): (value: object) => boolean {
  const { properties = {}, required = [], additionalProperties = true } = defined
  const needed = new Set(required)
  const fields = new Map(
    Object.entries(properties).map(([name, property]) => [
      name,
      { fits: fitOf(property), isNeeded: needed.has(name) },
    ]),
  )
  return (value) => {
    let missing = needed.size
    for (const name of Object.keys(value)) {
      const field = fields.get(name)
      if (!field) {
        if (!additionalProperties) return false
        continue
      }
      if (!field.fits((value as Record<string, unknown>)[name])) return false
      if (field.isNeeded) missing -= 1
    }
    return missing === 0
  }
}
