import { isCustomerId, isJourneyId } from '../../domain/identifiers.ts'
import { jsonTokens, stringOf } from '../../domain/json-tokens.ts'
import { endOfItems } from '../../domain/sent-head.ts'
import type { RefusalRow } from './refusal-table.ts'

/** By what a text names something. */
export type Names = {
  /** Unique wherever it stands: an identifier that we made. */
  id: string
  /** What a sender calls it. */
  own?: string
}

/** What may name something in a JSON text: a string, the name of a field, or a number that stands for an identifier. */
type Candidate = {
  text: string
  /** Where its outermost token begins. */
  index: number
}

/** A string may hold JSON, in which a string holds JSON, and so on. */
const MOST_LEVELS = 5

/** Fields of the contract. They are in every request, whatever anybody calls their customers. */
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

/** A number is an identifier where its field says so: of 12 seats nobody can tell a customer from. */
const IDENTIFIES =
  /(?:id|ids|key|no|nr|num|number|code|ref)$|customer|client|user|account|contact|member|person/i

/**
 * What a JSON text, or its head, may name something by: escapes are decoded, whatever the fields are called and however
 * they are nested.
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
    // It is the name of a field where a colon follows.
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

/** Shorter names stand in longer texts by chance. */
const TELLING_LENGTH = 10

/** Whether a JSON text, or its head, names something; blanks around a name and quotes around a number do not matter. */
export function mentions(text: string, names: Names): boolean {
  const isNamed = namedIn(names)
  for (const candidate of candidates(text)) if (isNamed(candidate.text)) return true
  return false
}

/**
 * Whether a value names something: as a whole, and where the name is long enough to tell, also within a longer text such as
 * an address, in whatever letter case and percent-encoding.
 */
function namedIn({ id, own = id }: Names): (value: string) => boolean {
  const whole = own.trim()
  const folded = foldedText(whole)
  const isTelling = folded.length >= TELLING_LENGTH || folded.includes('@')
  return (value) =>
    value.includes(id) || value.trim() === whole || (isTelling && hasWord(foldedText(value), folded))
}

/** Whether a text has another as a whole: neither a letter nor a digit goes on from it, which would be another name. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    // A character has at most two units.
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
 * Whether a rejected request is about something, or may be: where a text was cut in the middle of an object that does not
 * say in the contract's own field what it is about, nobody knows what the rest named.
 * @param subject the field that says it
 */
export function isAbout(row: About, names: Names, subject: 'customer_id' | 'journey_id'): boolean {
  const isNamed = namedIn(names)
  if (told(row).some(isNamed) || mentions(row.sent, names)) return true
  return mayBeAboutAnybody(row, subject)
}

const OUR_ID = { customer_id: isCustomerId, journey_id: isJourneyId } as const

/** Whether a row does not say by an identifier of ours what it is about, and was cut where the rest may have said it. */
export function mayBeAboutAnybody(
  row: Pick<RefusalRow, keyof typeof OUR_ID | 'sent' | 'sent_bytes' | 'faults'>,
  subject: keyof typeof OUR_ID,
): boolean {
  return !OUR_ID[subject](row[subject] ?? '') && isOpenEnded(row)
}

type Faults = { errors?: { pointer?: string; parameter?: string }[]; errors_omitted?: number }

function faultsOf({ faults }: Pick<RefusalRow, 'faults'>): Faults {
  return faults === '' ? {} : JSON.parse(faults)
}

/** What a row says beside the text that was sent: its references, the id that its sender may have chosen for it, and the names of fields in the pointers of its faults. */
export function told(row: Omit<About, 'sent' | 'sent_bytes'>): string[] {
  const { errors = [] } = faultsOf(row)
  const pointers = [row.field, ...errors.map(({ pointer = '' }) => pointer)]
  const names = pointers.flatMap((pointer) => pointer.split('/')).map(unescaped)
  const parameters = errors.map(({ parameter }) => parameter)
  return [row.request_id, row.customer_id, row.journey_id, row.event_id, ...parameters, ...names]
    .filter((text) => text !== null && text !== undefined)
    .filter((text) => text !== '' && !FIELDS.includes(text))
}

/** A reference token of a JSON pointer (RFC 6901), decoded. */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * Whether a text was cut where the rest, which is not kept, may have named whom it is about: anywhere but behind a whole
 * event of a batch that has nothing beside its events.
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
  // All faults are listed, so that a field beside the events would be one of them.
  if (errors_omitted === 0) return errors.every(({ pointer = '' }) => /^(\/events(\/|$)|$)/.test(pointer))
  return events.every((event) => isCustomerId(String(event?.customer_id)))
}

/** The events of a text that ends behind one of a batch, and has had nothing else so far. */
function wholeEvents(head: string): ({ customer_id?: unknown } | null)[] | undefined {
  try {
    const { events, ...others } = JSON.parse(`${head}]}`)
    return Array.isArray(events) && Object.keys(others).length === 0 ? events : undefined
  } catch {
    return undefined
  }
}

/** The row without what may be cut in the middle: where it does not say whom it is about, the rest may have. */
export function closed(row: RefusalRow): RefusalRow {
  if (!mayBeAboutAnybody(row, 'customer_id')) return row
  return { ...row, sent: row.sent.slice(0, endOfItems(row.sent)) }
}

/** Texts, each once, that may name a customer who was erased, and how much of the text was looked through for them. */
export type Candidates = { texts: Set<string>; end: number }

/** What a JSON text may name a customer by. @param most of them */
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

/** The parts of a longer text, such as an address, that are long enough to name somebody. */
function partsOf(value: string): string[] {
  const parts = value.split(/[\s,;:/?&=<>"'()|#]+/)
  return parts.length === 1 ? [] : parts.filter((part) => part.length >= TELLING_LENGTH || part.includes('@'))
}
