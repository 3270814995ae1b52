import { isId } from '../../domain/identifiers.ts'
import { jsonTokens, stringOf } from '../../domain/json-tokens.ts'
import { endOfItems } from '../../domain/sent-head.ts'
import type { RefusalRow } from './refusal-table.ts'

/** The names by which a text may refer to something. */
export type Names = {
  /** Our identifier, unique wherever it occurs. */
  id: string
  /** The sender's own identifier. */
  own?: string
}

/** A possible reference in a JSON text: a string, a field name, or a number that is an identifier. */
type Candidate = {
  text: string
  /** Start of its outermost token. */
  index: number
}

/** A string may contain JSON in which a string contains JSON, and so on. */
const MOST_LEVELS = 5

/** Fields of the contract. They are in every request, whatever names customers have. */
const FIELDS = [
  'client_customer_id',
  'custom_variables',
  'customer_id',
  'customer_name',
  'customer_type',
  'event_id',
  'events',
  'journey_id',
  'message_id',
  'occurred_at',
]

/** A number is an identifier if its field says so: 12 seats are not a customer. */
const IDENTIFIES =
  /(?:id|ids|key|no|nr|num|number|code|ref)$|customer|client|user|account|contact|member|person/i

/**
 * Yields the possible references in a JSON text or its head, with escapes decoded, in any field and at any depth.
 */
function* candidates(text: string, level = 1, at?: number): Generator<Candidate> {
  let last: Candidate | undefined
  let field = ''
  for (const { 0: token, index: own } of jsonTokens(text)) {
    const index = at ?? own
    if (token === ':') {
      field = last?.text ?? ''
      if (last && !FIELDS.includes(field)) yield last
      last = undefined
      continue
    }
    if (last) yield* withNested(last, level)
    last = undefined
    if (/^[{}[\],]$/.test(token)) continue
    const value = token.startsWith('"') ? stringOf(token) : token
    if (field === 'customer_type' && ['contact', 'account'].includes(value)) continue
    // It is a field name if a colon follows.
    if (token.startsWith('"')) last = { text: value, index }
    else if (IDENTIFIES.test(field)) yield { text: value, index }
  }
  if (last) yield* withNested(last, level)
}

function* withNested(candidate: Candidate, level: number): Generator<Candidate> {
  yield candidate
  const { text, index } = candidate
  if (level < MOST_LEVELS && text.length > 2 && /["{[]/.test(text)) yield* candidates(text, level + 1, index)
}

/** Shorter names occur in longer texts by chance. */
const TELLING_LENGTH = 10

/**
 * Whether a JSON text, or its head, refers to something. White space around a name and quotes around a number do not
 * matter.
 */
function mentions(text: string, names: Names): boolean {
  const isNamed = namedIn(names)
  for (const candidate of candidates(text)) if (isNamed(candidate.text)) return true
  return false
}

/**
 * Returns whether a value refers to something: as a whole, or, if the name is long enough, as part of a longer text
 * such as an address, in any letter case and percent-encoding.
 */
function namedIn({ id, own = id }: Names): (value: string) => boolean {
  const whole = own.trim()
  const folded = foldedText(whole)
  const isTelling = folded.length >= TELLING_LENGTH || folded.includes('@')
  return (value) =>
    value.includes(id) || value.trim() === whole || (isTelling && hasWord(foldedText(value), folded))
}

/**
 * Whether a text contains another as a whole word: no letter or digit is adjacent, which would make it another name.
 */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    // A character has at most two code units.
    const before = text.slice(Math.max(0, at - 2), at)
    const after = text.slice(at + word.length, at + word.length + 2)
    if (!/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after)) return true
  }
  return false
}

const INVISIBLE = /[\p{Cf}\s]+/gu

function foldedText(text: string): string {
  const visible = text.replace(INVISIBLE, '').toLowerCase()
  if (!visible.includes('%')) return visible
  try {
    return decodeURIComponent(visible)
  } catch {
    return visible
  }
}

type About = Pick<
  RefusalRow,
  'request_id' | 'customer_id' | 'journey_id' | 'event_id' | 'sent' | 'sent_bytes' | 'faults' | 'field'
>

/**
 * Whether a rejected request is about something, or may be: if a text was cut inside an object without the contract's
 * own field for it, the missing part may have named anyone.
 * @param subject that field
 */
export function isAbout(row: About, names: Names, subject: 'customer_id' | 'journey_id'): boolean {
  const isNamed = namedIn(names)
  if (told(row).some(isNamed) || mentions(row.sent, names)) return true
  return mayBeAboutAnybody(row, subject)
}

const PREFIXES = { customer_id: 'cus', journey_id: 'jrn' } as const

/**
 * Whether a row does not say by one of our identifiers what it is about, and was cut where the rest may have said it.
 */
export function mayBeAboutAnybody(
  row: Pick<RefusalRow, keyof typeof PREFIXES | 'sent' | 'sent_bytes' | 'faults'>,
  subject: keyof typeof PREFIXES,
): boolean {
  return !isId(PREFIXES[subject], row[subject] ?? '') && isOpenEnded(row)
}

type Faults = { errors?: { pointer?: string; parameter?: string }[]; errors_omitted?: number }

function faultsOf({ faults }: Pick<RefusalRow, 'faults'>): Faults {
  return JSON.parse(faults)
}

/**
 * Everything in a row except the text that was sent: its references, the identifier that its sender may have chosen, and
 * the names of fields in the pointers of its faults.
 */
export function told(row: Omit<About, 'sent' | 'sent_bytes'>): string[] {
  const { errors = [] } = faultsOf(row)
  const pointers = [row.field, ...errors.map(({ pointer = '' }) => pointer)]
  const names = pointers.flatMap((pointer) => pointer.split('/')).map(unescaped)
  const parameters = errors.map(({ parameter }) => parameter)
  return [row.request_id, row.customer_id, row.journey_id, row.event_id, ...parameters, ...names]
    .filter((text) => text !== null && text !== undefined)
    .filter((text) => text !== '' && !FIELDS.includes(text))
}

/** Decodes a reference token of a JSON Pointer (RFC 6901). */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * Whether a text was cut where the missing rest may have named its subject: anywhere except after a complete event of a
 * batch that has only events.
 */
function isOpenEnded(row: Pick<RefusalRow, 'sent' | 'sent_bytes' | 'faults'>): boolean {
  const { sent, sent_bytes } = row
  if (sent === '' || Buffer.byteLength(sent) >= sent_bytes) return false
  return endOfItems(sent) < sent.length || !isOfEventsAlone(row)
}

function isOfEventsAlone(row: Pick<RefusalRow, 'sent' | 'faults'>): boolean {
  const events = wholeEvents(row.sent)
  if (!events) return false
  const { errors = [], errors_omitted = 0 } = faultsOf(row)
  // All faults are listed, so a field beside the events would be one of them.
  if (errors_omitted === 0) return errors.every(({ pointer = '' }) => /^(\/events(\/|$)|$)/.test(pointer))
  return events.every((event) => isId('cus', String(event?.customer_id)))
}

/** Returns the events of a text that ends after one of a batch, and has contained nothing else so far. */
function wholeEvents(head: string): ({ customer_id?: unknown } | null)[] | undefined {
  try {
    const { events, ...others } = JSON.parse(`${head}]}`)
    return Array.isArray(events) && Object.keys(others).length === 0 ? events : undefined
  } catch {
    return undefined
  }
}

/** Returns the row without what may be cut: if it does not name its subject, the rest may have. */
export function closed(row: RefusalRow): RefusalRow {
  if (!mayBeAboutAnybody(row, 'customer_id')) return row
  return { ...row, sent: row.sent.slice(0, endOfItems(row.sent)) }
}

/** Distinct texts that may name an erased customer, and how far the text was searched for them. */
export type Candidates = { texts: Set<string>; end: number }

/** Returns possible names of customers in a JSON text. @param most maximum number */
export function candidatesOf(text: string, most: number): Candidates {
  const texts = new Set<string>()
  for (const { text: value, index } of candidates(text)) {
    if (texts.size >= most) return { texts, end: index }
    // A text may repeat one thousands of times.
    if (texts.has(value)) continue
    for (const [id] of value.matchAll(CUSTOMER_ID)) texts.add(id)
    for (const name of [value, ...partsOf(value)])
      if (name.length <= OWN_LENGTH) texts.add(name.trim()).add(name)
  }
  return { texts, end: text.length }
}

const CUSTOMER_ID = /cus_[0-9a-z]{26}/g
const OWN_LENGTH = 255

/** Returns the parts of a longer text, such as an address, that are long enough to be a name. */
function partsOf(value: string): string[] {
  const parts = value.split(/[\s,;:/?&=<>"'()|#]+/)
  return parts.length === 1 ? [] : parts.filter((part) => part.length >= TELLING_LENGTH || part.includes('@'))
}
