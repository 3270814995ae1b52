import { jsonTokens, stringOf } from './json-tokens.ts'

/** Stands for what was taken out. */
export const REDACTED = '[redacted by Cairn]'

/** Our own keys and one-time tokens, also where their end was cut off. */
const OWN_TOKEN = /(?:pk|sk|setup|password|invitation)_[0-9A-Za-z]{20,}/g

/** The value of an HTTP header `Authorization` (RFC 9110, section 11.4). */
const AUTHORIZATION = /\b(Bearer|Basic)\s+[^\s"',;]+/gi

/** A string may hold JSON in which a string holds JSON; nobody nests deeper by accident. */
const MOST_LEVELS = 3

/** What is without any of these needs no closer look. */
const SUSPICIOUS = /pass|secret|token|authori|key|[ps]k_|setup_|invitation_|bearer|basic|\\/i

/** The text without our own keys and tokens. It stays JSON where it was. */
export function withoutOwnTokens(text: string): string {
  return text.replace(OWN_TOKEN, REDACTED)
}

/**
 * A JSON text, whole or its head, without secrets: our own keys and one-time tokens anywhere, credentials of the schemes
 * Bearer and Basic, and every value, however nested, of a field whose name says password, secret, token, API key or
 * authorization. Other text stays as it was sent, to the character.
 */
export function redacted(text: string, level = 1): string {
  if (!SUSPICIOUS.test(text)) return text
  let result = ''
  let copied = 0
  let depth = 0
  /** The depth of the object or array whose values are all secret. */
  let secretDepth = Number.POSITIVE_INFINITY
  let isSecretNext = false
  let name = ''
  for (const { 0: token, index } of jsonTokens(text)) {
    let replaced = token
    if (token === '{' || token === '[') {
      depth += 1
      if (isSecretNext) secretDepth = Math.min(secretDepth, depth)
      isSecretNext = false
    } else if (token === '}' || token === ']') {
      if (depth <= secretDepth) secretDepth = Number.POSITIVE_INFINITY
      depth -= 1
    } else if (token === ':') {
      isSecretNext = isSecretName(name)
    } else if (token === ',') {
      isSecretNext = false
    } else {
      const isText = token.startsWith('"')
      const isName = isText && /^\s*:/.test(text.slice(index + token.length, index + token.length + 16))
      if (isName) name = stringOf(token)
      if (!isName && (isSecretNext || depth >= secretDepth))
        replaced = isBare(token) ? token : quoted(REDACTED)
      else if (isText) replaced = redactedString(token, level)
    }
    if (replaced === token) continue
    result += text.slice(copied, index) + replaced
    copied = index + token.length
  }
  return result + text.slice(copied)
}

function redactedString(token: string, level: number): string {
  const text = stringOf(token)
  const plain = withoutOwnTokens(text).replace(AUTHORIZATION, `$1 ${REDACTED}`)
  const inner = level < MOST_LEVELS && /["{[]/.test(plain) ? redacted(plain, level + 1) : plain
  return inner === text ? token : quoted(inner)
}

/** Says nothing. */
function isBare(token: string): boolean {
  return token === 'null' || token === 'true' || token === 'false' || token === '""'
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

/** `password`, `newPassword`, `client_secret`, `Access-Token`, `x-service-key`, `API key`; not `tokens_used`. */
function isSecretName(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '')
  return /passw|pwd|secret|authori[sz]ation|credential|(?:token|apikey|servicekey|accesskey|privatekey)s?$/.test(
    letters,
  )
}
