import type { Schemas } from '../../client/person.ts'
import { isolated } from '../parts/visible-name.ts'

type Variables = Schemas['Event']['custom_variables']

/** Characters after which nothing is added; rows truncate shorter texts than this. */
const limit = 200

/** The custom variables of an event in one line: `plan pro · seats 12`. */
export function variablesText(variables: Variables): string {
  if (variables === null) return ''
  if (typeof variables === 'string') return isolated(variables.slice(0, limit))
  let text = ''
  for (const [name, value] of Object.entries(variables)) {
    text += `${text && ' · '}${isolated(name.slice(0, limit))} ${isolated(valueText(value).slice(0, limit))}`
    if (text.length > limit) break
  }
  return text
}

/** A value as written in a filter: strings as they are, anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether an event has a variable with this value, `plan=pro`; without `=`, whether its variables contain the text. */
export function hasVariable(variables: Variables, wanted: string): boolean {
  if (variables === null) return false
  const end = wanted.indexOf('=')
  if (end > 0 && typeof variables === 'object') {
    const name = wanted.slice(0, end)
    return Object.hasOwn(variables, name) && valueText(variables[name]) === wanted.slice(end + 1)
  }
  return valueText(variables).toLowerCase().includes(wanted.toLowerCase())
}
