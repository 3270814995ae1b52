import { isSecretName } from './secret-names.ts'

/** Replaces what was redacted. */
export const REDACTED = '[redacted by Cairn]'

/**
 * Cairn's keys, one-time tokens and webhook secrets (in base64), also cut off. Complete ones have at least 43 characters;
 * shorter tokens match only at the start of a word, because others have identifiers such as
 * `task_01HZX4N8QW5V7T2R9YB6KDMCEA`.
 */
const OWN_TOKEN =
  /(?<![0-9A-Za-z])(?:pk|sk|setup|password|invitation|viewlink)_[0-9A-Za-z]{20,}|(?:pk|sk|setup|password|invitation|viewlink)_[0-9A-Za-z]{43,}|whsec_[0-9A-Za-z+/]{20,}=*/g

/** Credentials as in an HTTP `Authorization` header (RFC 9110, section 11.4), in forms that do not occur in prose. */
const BEARER = /\b(Bearer\s+)[\w.~+/|:-]{16,}=*/gi
const BASIC = /\b(Basic\s+)([\w+/-]{8,}={0,2})/gi
const TOKEN = /\b(Token\s+(?:token=)?"?)(?=[^\s\d]*\d)[\w.~+/|:-]{16,}=*/gi
const DIGEST =
  /\b(Digest\s+)(?=(?:username\*?|realm|nonce|uri|qop|response|opaque|algorithm|cnonce|nc)\s*=)[^\r\n]*/gi

/**
 * User information of a URL (RFC 3986, section 3.2.1). The match starts at `://`, which it cannot contain: one pass.
 */
const USER_INFO = /:\/\/([^\s/?#"'<>\\]+)@/g

/** Minimum length of user information without a password that is taken for a token. */
const USER_LENGTH = 20

/**
 * The name of a parameter in a query, form, cookie or connection string, without the characters that may precede it.
 */
const PARAMETER = /(?:^|[?&#;,\s])([^=&?#;,\s"'<>\\]{1,100})=(?!\[redacted by)/g

/** Its value. If it is secret, all of it: a password may contain what separates parameters elsewhere. */
const PARAMETER_VALUE = /(?:[^&#\s"'<>\\]|\\(?!["\\]))+/y

/** Removes Cairn's keys, tokens and webhook secrets. JSON stays JSON. */
export function withoutOwnTokens(text: string): string {
  return text.replace(OWN_TOKEN, REDACTED)
}

/**
 * Removes Cairn's keys and tokens, credentials, user information in URLs, and values of parameters with secret names.
 */
export function withoutSecrets(text: string): string {
  const plain = text.length < SHORTEST_CREDENTIALS ? text : withoutCredentials(withoutOwnTokens(text))
  return withoutParameters(withoutUserInfo(plain))
}

/** `Digest nc=x`. Shorter texts are frequent, and each search in one takes 0.1 µs. */
const SHORTEST_CREDENTIALS = 11

function withoutCredentials(text: string): string {
  return text
    .replace(BEARER, `$1${REDACTED}`)
    .replace(BASIC, (all, scheme: string, credentials: string) =>
      isUserAndPassword(credentials) ? scheme + REDACTED : all,
    )
    .replace(TOKEN, `$1${REDACTED}`)
    .replace(DIGEST, `$1${REDACTED}`)
}

function withoutUserInfo(text: string): string {
  if (!text.includes('://')) return text
  return text.replace(USER_INFO, (all, user: string) =>
    user.includes(':') || user.length >= USER_LENGTH ? `://${REDACTED}@` : all,
  )
}

function withoutParameters(text: string): string {
  if (!text.includes('=')) return text
  let result = ''
  let copied = 0
  for (const { 0: all, 1: name = '', index } of text.matchAll(PARAMETER)) {
    if (index < copied || !isSecretName(percentDecoded(name))) continue
    const start = index + all.length
    PARAMETER_VALUE.lastIndex = start
    const [value] = PARAMETER_VALUE.exec(text) ?? []
    if (value === undefined) continue
    result += text.slice(copied, start) + REDACTED
    copied = start + value.length
  }
  return result + text.slice(copied)
}

/** Whether credentials of the Basic scheme are a text with a colon in base64 (RFC 7617, section 2). */
function isUserAndPassword(credentials: string): boolean {
  const text = Buffer.from(credentials, 'base64').toString()
  return text.includes(':') && !UNREADABLE.test(text)
}

/** Control characters, and invalid UTF-8. */
const UNREADABLE = /[\p{Cc}\ufffd]/u

function percentDecoded(name: string): string {
  if (!name.includes('%')) return name
  return name.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
