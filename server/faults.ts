import { pointerTo } from './domain/json.ts'
import type { Fault } from './problems.ts'

/** A fault as express-openapi-validator tells it; `path` begins with `/body`, `/query` or `/params`. */
export type ValidatorError = { path: string; message: string; errorCode?: string }

type Schema = { pattern?: string; format?: string; 'x-refusal'?: string }

/**
 * A fault as the API tells it. Never holds what the caller sent, but the names of fields.
 * @param refusals what to say instead of a pattern or a format, see `refusalTexts`
 */
export function faultOf(
  { path, message, errorCode = '' }: ValidatorError,
  { body, refusals }: { body: unknown; refusals: Map<string, string> },
): Fault {
  const keyword = errorCode.split('.')[0] ?? ''
  const detail =
    DETAILS[keyword] ??
    refusals.get(message) ??
    message.replace('be equal to one of the allowed values', 'be one of')
  if (path === '') return { detail, pointer: namelessField(body) }
  const [, place, parameter = ''] = path.split('/')
  if (place !== 'body') return { detail, parameter }
  const pointer = path.slice('/body'.length)
  return { detail, pointer: keyword === 'additionalProperties' ? unknownField(body, pointer) : pointer }
}

const DETAILS: Record<string, string> = {
  required: 'is required',
  // The contract has no other least length than 1.
  minLength: 'must not be empty',
  additionalProperties: 'is not a field that the contract knows; remove it or correct its name',
}

/** By body: a search for each of thousands of such fields would take 15 s. */
const namelessFields = new WeakMap<object, string>()

/** Of an unknown field with an empty name the validator does not tell the place: it is the one nearest to the root. */
function namelessField(body: unknown): string {
  const key = Object(body)
  const pointer = namelessFields.get(key) ?? searchNamelessField(body)
  namelessFields.set(key, pointer)
  return pointer
}

function searchNamelessField(body: unknown): string {
  const places = [{ value: body, pointer: '' }]
  for (const { value, pointer } of places) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '')) return pointerTo(pointer, '')
    for (const [name, inner] of Object.entries(value)) {
      places.push({ value: inner, pointer: pointerTo(pointer, name) })
    }
  }
  return ''
}

/** The validator gives an unknown field's parent as a pointer, and then the field's name as it stands. */
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

/** The faults without repetitions: a pattern and a format that fail together say the same. */
export function distinct(faults: Fault[]): Fault[] {
  const seen = new Map(faults.map((fault) => [`${fault.pointer} ${fault.parameter} ${fault.detail}`, fault]))
  return [...seen.values()]
}

/** What to say instead of a pattern or a format, by the validator's message: the contract's `x-refusal`. */
export function refusalTexts(components: unknown): Map<string, string> {
  const texts = new Map<string, string>()
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { pattern, format, 'x-refusal': text }: Schema = value
    if (text && pattern) texts.set(`must match pattern "${pattern}"`, text)
    if (text && format) texts.set(`must match format "${format}"`, text)
    Object.values(value).forEach(visit)
  }
  visit(components)
  return texts
}
