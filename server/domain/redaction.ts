import { stringEnd, stringOf } from './json-tokens.ts'
import { isSecretName } from './secret-names.ts'
import { REDACTED, withoutSecrets } from './secret-texts.ts'

/**
 * Maximum levels of JSON in strings: a string may hold JSON in which a string holds JSON; nobody nests deeper by
 * accident.
 */
const MOST_LEVELS = 4

/**
 * A fast filter: every secret name and text contains one of these, or hides it in `\u` escapes. Text without any needs
 * no closer look: 3 ns per character.
 */
const SUSPICIOUS =
  /pass|pw|secret|token|auth|cred|key|[ps]k_|setup_|invitation_|viewlink_|whsec_|bearer|basic|digest|@|\\u/i

/** Minimum length of a string with a secret in it: `"pw=x"`. */
const SHORTEST = 6

/** Fields of an object that name what another one holds: `{"name": "password", "value": "…"}`. */
const NAMING = /^(?:name|key|field|header|label|param|parameter|property|attribute)$/i
const VALUE = /^(?:value|val|content)$/i

/** Replaces a part of a text. */
type Edit = { start: number; end: number; text: string }

/** An object or array that has started and not ended. */
type Open = {
  start: number
  /** Whether all texts in it are secret. */
  isSecret: boolean
  /** Whether it contains any text. */
  hasText: boolean
  /** The name of the field whose value comes next; '' if none does. */
  field: string
  /** Whether the next value is secret. */
  isSecretNext: boolean
  /** Whether it says that its value is a secret; `value` is the position of that value if it came first. */
  namesSecret: boolean
  value?: { start: number; end: number }
}

/** Characters read, at every level, since the last yield to other work. */
type Effort = { characters: number }

/** Maximum characters read between two yields to other work, plus one string: at worst 1 ms per 16 KiB of it. */
const SLICE_CHARACTERS = 8 * 1024

/**
 * Redacts a JSON text, complete or only its head: what `withoutSecrets` removes from texts, and every text that is the
 * value of a secret name, however nested. Numbers, booleans, null and everything else stay unchanged to the character.
 * JSON in strings is searched too, four levels deep. Linear in the length of the text. Runs in slices, for a thread
 * that others share: each yields the number of characters read.
 */
export function* redaction(text: string): Generator<number, string> {
  if (!SUSPICIOUS.test(text)) return text
  const effort = { characters: text.length }
  const result = yield* searched(text, 0, effort)
  yield effort.characters
  return result
}

function* searched(text: string, level: number, effort: Effort): Generator<number, string> {
  let counted = 0
  const edits: Edit[] = []
  /** Edits of values whose name comes after them. */
  const late: Edit[] = []
  const outer: Open[] = []
  let open = opened(0, false)
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '{':
      case '[':
        outer.push(open)
        open = opened(index, open.isSecret || open.isSecretNext)
        break
      case '}':
      case ']': {
        const closed = open
        open = outer.pop() ?? opened(index, false)
        open.hasText ||= closed.hasText
        if (closed.hasText) noteValue(open, closed.start, index + 1)
        break
      }
      case ',':
        open.field = ''
        open.isSecretNext = false
        break
      case '"': {
        const end = stringEnd(text, index)
        const token = text.slice(index, end)
        const isName = isBeforeColon(text, end)
        const isSecret = !isName && (open.isSecret || open.isSecretNext)
        let replaced = token
        if (isSecret && token !== '""') replaced = QUOTED
        else if (isSuspicious(token)) replaced = yield* redactedString(token, level, effort)
        if (replaced !== token) edits.push({ start: index, end, text: replaced })
        if (isName) {
          open.field = stringOf(token)
          open.isSecretNext = isSecretName(open.field) || (open.namesSecret && VALUE.test(open.field))
        } else if (token !== '""') {
          open.hasText = true
          noteValue(open, index, end)
          if (open.field !== '' && NAMING.test(open.field) && isSecretName(stringOf(token))) {
            open.namesSecret = true
            if (open.value) late.push({ ...open.value, text: QUOTED })
          }
        }
        index = end - 1
        effort.characters += end - counted
        counted = end
        if (effort.characters >= SLICE_CHARACTERS) {
          yield effort.characters
          effort.characters = 0
        }
      }
    }
  }
  return edited(text, late.length === 0 ? edits : [...late, ...edits].sort(byPlace))
}

function opened(start: number, isSecret: boolean): Open {
  return { start, isSecret, hasText: false, field: '', isSecretNext: false, namesSecret: false }
}

function noteValue(open: Open, start: number, end: number) {
  if (open.field !== '' && VALUE.test(open.field)) open.value = { start, end }
}

/** Sorts by position; of edits with the same start the longest comes first. */
function byPlace(a: Edit, b: Edit): number {
  return a.start - b.start || b.end - a.end
}

/** @param edits sorted; one within an earlier one is skipped */
function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let copied = 0
  for (const { start, end, text: replacement } of edits) {
    if (start < copied) continue
    result += text.slice(copied, start) + replacement
    copied = end
  }
  return result + text.slice(copied)
}

function isSuspicious(token: string): boolean {
  return token.length >= SHORTEST && SUSPICIOUS.test(token)
}

function* redactedString(token: string, level: number, effort: Effort): Generator<number, string> {
  const text = stringOf(token)
  const inner = level < MOST_LEVELS && text.includes('"') ? yield* searched(text, level + 1, effort) : text
  effort.characters += text.length + inner.length
  const plain = withoutSecrets(inner)
  return plain === text ? token : JSON.stringify(plain)
}

function isBeforeColon(text: string, end: number): boolean {
  COLON.lastIndex = end
  return COLON.test(text)
}

const COLON = /[ \t\n\r]*:/y
const QUOTED = JSON.stringify(REDACTED)
