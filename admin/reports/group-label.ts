import type { Schemas } from '../../client/person.ts'
import { countOf } from '../parts/number-text.ts'
import { isVisible } from '../parts/visible-name.ts'

/** The name of a group of a breakdown. */
export function groupLabel({ kind, value, values }: Schemas['BreakdownGroup'], breakdown: string): string {
  if (kind === 'not_set') return 'Not set'
  if (kind === 'other') return `${countOf(values, 'other value')}`
  if (breakdown === 'customer_type') return value === 'account' ? 'Accounts' : 'Contacts'
  return valueText(value)
}

/** Distinguishes the groups of a breakdown: a text can read like a number. */
export function groupKey({ kind, value }: Schemas['BreakdownGroup']): string {
  return `${kind} ${typeof value} ${value}`
}

/**
 * A value; a text that reads like a number or a boolean, or begins or ends with a space, is in quotes, since both can be
 * groups.
 */
function valueText(value: Schemas['BreakdownGroup']['value']): string {
  if (typeof value !== 'string') return String(value)
  if (value === '') return 'Empty text'
  if (!isVisible(value)) return `Invisible text (${[...value].map(codePointText).join(' ')})`
  return /^(true|false|-?\d[\d.eE+-]*)$|^\s|\s$/.test(value) ? `"${value}"` : value
}

/** A character by its code point: `U+200B`. */
function codePointText(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
}

/** What a report is broken down by, in words. */
export function breakdownText(breakdown: string): string {
  return breakdown === 'customer_type' ? 'customer type' : breakdown.slice('variable:'.length)
}
