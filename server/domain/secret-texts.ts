import { isSecretName } from './secret-names.ts'

/** Stands for what was taken out. */
export const REDACTED = '[redacted by Cairn]'

/**
 * Our own keys and one-time tokens, also where their end was cut off. Whole ones have 43 characters at least; shorter ones
 * count at the start of a word, as others have identifiers such as `task_01HZX4N8QW5V7T2R9YB6KDMCEA`.
 */
const OWN_TOKEN =
  /(?<![0-9A-Za-z])(?:pk|sk|setup|password|invitation)_[0-9A-Za-z]{20,}|(?:pk|sk|setup|password|invitation)_[0-9A-Za-z]{43,}/g

/** Credentials as in an HTTP header `Authorization` (RFC 9110, section 11.4), of a form that prose does not have. */
const BEARER = /\b(Bearer\s+)[\w.~+/|:-]{16,}=*/gi
const BASIC = /\b(Basic\s+)([\w+/-]{8,}={0,2})/gi
const TOKEN = /\b(Token\s+(?:token=)?"?)(?=[^\s\d]*\d)[\w.~+/|:-]{16,}=*/gi
const DIGEST =
  /\b(Digest\s+)(?=(?:username\*?|realm|nonce|uri|qop|response|opaque|algorithm|cnonce|nc)\s*=)[^\r\n]*/gi

/** User information of a URL (RFC 3986, section 3.2.1). Begins at `://`, which it cannot contain: one pass. */
const USER_INFO = /:\/\/([^\s/?#"'<>\\]+)@/g

/** A longer one is a token, also without a password. */
const USER_LENGTH = 20

/** The name of a parameter in a query, a form, a cookie or a connection string. It contains nothing that may stand before it. */
const PARAMETER = /(?:^|[?&#;,\s])([^=&?#;,\s"'<>\\]{1,100})=(?!\[redacted by)/g

/** Its value, to the end if it is secret: a password may contain what separates parameters elsewhere. */
const PARAMETER_VALUE = /(?:[^&#\s"'<>\\]|\\(?!["\\]))+/y

/** The text without our own keys and tokens. It stays JSON where it was. */
export function withoutOwnTokens(text: string): string {
  return text.replace(OWN_TOKEN, REDACTED)
}

/** A text without our own keys and tokens, credentials, user information in URLs, and values of parameters named as secrets. */
export function withoutSecrets(text: string): string {
  const plain = text.length < SHORTEST_CREDENTIALS ? text : withoutCredentials(withoutOwnTokens(text))
  return withoutParameters(withoutUserInfo(plain))
}

/** `Digest nc=x`. Texts that are shorter are many, and each search in one takes 0.1 µs. */
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

/** Whether credentials of the scheme Basic are a text with a colon, in base64 (RFC 7617, section 2). */
function isUserAndPassword(credentials: string): boolean {
  const text = Buffer.from(credentials, 'base64').toString()
  return text.includes(':') && !UNREADABLE.test(text)
}

/** Control characters, and what is no UTF-8. */
const UNREADABLE = /[\p{Cc}\ufffd]/u

function percentDecoded(name: string): string {
  if (!name.includes('%')) return name
  return name.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
