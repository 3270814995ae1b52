import { pointerTo } from '../../domain/pointers.ts'
import type { Fault } from '../../problems.ts'

/** A fault as express-openapi-validator reports it; `path` starts with `/body`, `/query` or `/params`. */
export type ValidatorError = { path: string; message: string; errorCode?: string }

type Schema = { pattern?: string; format?: string; 'x-refusal'?: string }

type Context = { body: unknown; refusals: Map<string, string> }

/**
 * Converts faults to the API's form, which contains nothing that the caller sent except field names.
 * @param context.refusals texts that replace those of a pattern or format, see `refusalTexts`
 */
export function faultsOf(errors: readonly ValidatorError[], context: Context): Fault[] {
  // The validator reports what is wrong with a name as if it were wrong with the object that has it.
  const isSummary = (error: ValidatorError) => keywordOf(error) === 'propertyNames'
  const objects = new Set(errors.filter(isSummary).map(({ path }) => path))
  return errors
    .filter((error) => !isSummary(error))
    .map((error) => {
      const fault = faultOf(error, context)
      const isOfName = objects.has(error.path) && OF_STRINGS.has(keywordOf(error))
      return isOfName ? { ...fault, detail: `each name ${fault.detail}` } : fault
    })
}

/** The keywords that a schema of names uses; they say nothing about an object. */
const OF_STRINGS: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'pattern'])

function keywordOf({ errorCode = '' }: ValidatorError): string {
  return errorCode.split('.')[0] ?? ''
}

function faultOf(error: ValidatorError, { body, refusals }: Context): Fault {
  const { path, message } = error
  const keyword = keywordOf(error)
  const detail =
    DETAILS[keyword] ??
    refusals.get(message) ??
    message
      .replace('be equal to one of the allowed values', 'be one of')
      .replace('NOT have fewer than 1 characters', 'not be empty')
      .replace(/^must be \w+(,\w+)+$/, (types) => types.replaceAll(',', ' or '))
  if (path === '') return { detail, pointer: namelessField(body) }
  const [, place, parameter = ''] = path.split('/')
  if (place !== 'body') return { detail, parameter }
  const pointer = path.slice('/body'.length)
  return { detail, pointer: keyword === 'additionalProperties' ? unknownField(body, pointer) : pointer }
}

const DETAILS: Record<string, string> = {
  required: 'is required',
  additionalProperties: 'is not a field of the contract; remove it or correct its name',
}

/**
 * Returns the position of an unknown field with an empty name, which the validator does not report: the one nearest to
 * the root, since what may contain any name is inside of what may not.
 */
function namelessField(body: unknown): string {
  let level: (readonly [pointer: string, value: object])[] = isObject(body) ? [['', body]] : []
  while (level.length > 0) {
    const found = level.find(([, value]) => Object.hasOwn(value, ''))
    if (found) return `${found[0]}/`
    level = level.flatMap(([pointer, value]) =>
      Object.entries(value).flatMap(([name, inner]) => {
        return isObject(inner) ? [[pointerTo(pointer, name), inner] as const] : []
      }),
    )
  }
  return '/'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/**
 * Returns the pointer to an unknown field. The validator gives a pointer to its parent, followed by the unescaped name.
 */
function unknownField(body: unknown, path: string): string {
  let parent = body
  let at = 0
  while (typeof parent === 'object' && parent !== null) {
    const name = path.slice(at + 1)
    if (Object.hasOwn(parent, name)) return pointerTo(path.slice(0, at), name)
    const next = path.indexOf('/', at + 1)
    if (next === -1) break
    parent = (parent as Record<string, unknown>)[path.slice(at + 1, next)]
    at = next
  }
  return path
}

/** Removes duplicates: a pattern and a format that fail together have the same text. */
export function distinct(faults: Fault[]): Fault[] {
  if (faults.length < 2) return faults
  const seen = new Map(faults.map((fault) => [`${fault.pointer} ${fault.parameter} ${fault.detail}`, fault]))
  return [...seen.values()]
}

/** Returns the contract's `x-refusal` texts for patterns and formats, by the validator's message. */
export function refusalTexts(document: unknown): Map<string, string> {
  const texts = new Map<string, string>()
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { pattern, format, 'x-refusal': text }: Schema = value
    if (text && pattern) texts.set(`must match pattern "${pattern}"`, text)
    if (text && format) texts.set(`must match format "${format}"`, text)
    Object.values(value).forEach(visit)
  }
  visit(document)
  return texts
}
