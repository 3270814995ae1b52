import { jsonTokens, stringOf } from '../../domain/json-tokens.ts'
import { endOfItems } from '../../domain/sent-head.ts'
import type { RefusalRow } from './refusal-table.ts'

/** By what a text names something. */
export type Names = {
  /** Unique wherever it stands: an identifier that we made. */
  id: string
  /** What a sender calls it; anything may contain it, so it counts where it is a whole value or name. */
  own?: string
}

/** A string may hold JSON, in which a string holds JSON. */
const MOST_LEVELS = 3

/**
 * Whether a JSON text, or its head, names something: escapes are decoded, whatever the fields are called and however they
 * are nested; blanks around a name and quotes around a number do not matter.
 */
export function mentions(text: string, names: Names, level = 1): boolean {
  const { id, own = id } = names
  const trimmed = own.trim()
  const isPossible = (text: string) => text.includes(id) || text.includes(trimmed)
  if (!text.includes('\\') && !isPossible(text)) return false
  for (const [token] of jsonTokens(text)) {
    const isText = token.startsWith('"')
    const value = isText ? stringOf(token) : token
    if (value.includes(id) || value.trim() === trimmed) return true
    if (isText && level < MOST_LEVELS && isNested(value) && mentions(value, names, level + 1)) return true
  }
  return false
}

/**
 * Whether a rejected request is about something, or may be: where a text was cut in the middle of an object that does not
 * say in the contract's own field what it is about, nobody knows what the rest named.
 * @param subject the field that says it
 */
export function isAbout(
  row: Pick<RefusalRow, 'customer_id' | 'journey_id' | 'sent' | 'sent_bytes' | 'faults' | 'field'>,
  names: Names,
  subject: 'customer_id' | 'journey_id',
): boolean {
  if (row[subject] === names.id) return true
  if (mentions(row.sent, names) || mentions(row.faults, names) || row.field.includes(names.id)) return true
  return row[subject] === null && isOpenEnded(row)
}

/** Whether a text was cut in the middle of an object: the rest, which is not kept, may have named anybody. */
export function isOpenEnded({ sent, sent_bytes }: Pick<RefusalRow, 'sent' | 'sent_bytes'>): boolean {
  return sent !== '' && Buffer.byteLength(sent) < sent_bytes && endOfItems(sent) < sent.length
}

/** Texts, each once, that may name a customer who was erased, and how much of the text was looked through for them. */
export type Candidates = { texts: Set<string>; end: number }

/** What a JSON text may name a customer by: every string and number in it. @param most of them */
export function candidatesOf(text: string, most: number, level = 1): Candidates {
  const texts = new Set<string>()
  for (const { 0: token, index } of jsonTokens(text)) {
    if (/^[{}[\]:,]$/.test(token)) continue
    if (texts.size >= most) return { texts, end: index }
    const value = token.startsWith('"') ? stringOf(token) : token
    for (const [id] of value.matchAll(CUSTOMER_ID)) texts.add(id)
    if (value.length <= OWN_LENGTH) texts.add(value.trim())
    if (value.length <= OWN_LENGTH) texts.add(value)
    if (level < MOST_LEVELS && isNested(value)) {
      const nested = candidatesOf(value, most - texts.size, level + 1)
      for (const inner of nested.texts) texts.add(inner)
      if (nested.end < value.length) return { texts, end: index }
    }
  }
  return { texts, end: text.length }
}

const CUSTOMER_ID = /cus_[0-9a-z]{26}/g
const OWN_LENGTH = 255

function isNested(text: string): boolean {
  return text.length > 2 && /["{[]/.test(text)
}
