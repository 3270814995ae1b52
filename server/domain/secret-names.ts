/** A fast filter: a name without any of these is not secret. Cheaper than splitting it into words. */
const STEM = /pass|pw|secret|token|auth|cred|key/i

/** The words of a name in camelCase, snake_case or kebab-case; `APIKey` is `API` and `Key`. */
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g

/** Secret at any position among the words of a name. */
const STRONG = namePart([
  '[a-z]*(?:password(?!less)|passwd|passphrase|passcode)[a-z]*',
  'pass_(?:word|phrase|code)s?',
  '[a-z]*(?:pwd|secret)s?',
  'pw',
  'credentials?',
  'creds',
  'authori[sz]ation',
])

/** The last word of a name that describes a secret and is not one. */
const ABOUT = new RegExp(
  `_(?:${[
    ...[
      'type',
      'kind',
      'strength',
      'score',
      'length',
      'count',
      'state',
      'status',
      'policy',
      'method',
      'provider',
    ],
    ...[
      'attempts?',
      'age',
      'ttl',
      'expir(?:y|es|ed|ation)',
      'at',
      'on',
      'by',
      'date',
      'time',
      'updated?',
      'created',
    ],
    ...[
      'resets?',
      'change[ds]?',
      'required',
      'enabled',
      'set',
      'valid',
      'invalid',
      'id',
      'page',
      'screen',
      'step',
    ],
    ...[
      'flow',
      'events?',
      'errors?',
      'reason',
      'action',
      'limit',
      'usage',
      'used',
      'source',
      'scopes?',
      'amount',
    ],
    ...['currency', 'manager', 'santa', 'url', 'uri', 'endpoint'],
  ].join('|')})$`,
)

/** Words after a secret that do not change that it is one. */
const TRAILING =
  /^(?:\d+|v|values?|hash|string|text|raw|plain|plaintext|header|data|field|input|new|old|current|previous|confirm|confirmation|repeat|encrypted|encoded|test|live)$/

const KEY_OF = 'api|service|access|private|secret|signing|encryption|master|auth'
const TOKENS_OF =
  'access|refresh|auth|oauth|api|id|session|bearer|device|push|csrf|xsrf|service|reset|invitation|verification'
const PASS_OF = 'user|db|database|login|smtp|ftp|mail|root|admin|wifi|proxy|redis|mysql|pg|postgres|mongo'

/** Secret at the end of a name, or as the whole name. */
const LAST = new RegExp(
  `(?:^|_)(?:[a-z]*token|(?:${TOKENS_OF})_?tokens|(?:[a-z]*(?:${KEY_OF})key|(?:${KEY_OF})_key)s?|(?:${PASS_OF})_?pass|auth_code)$` +
    '|^(?:tokens|pass|(?:(?:x|http|basic|proxy|api)_)?auth)$',
)

/**
 * Whether a field with this name holds a password, token, API key or other credentials, judged by its words:
 * `newPassword`, `client_secret`, `access_token_v2` and `API key` do; `tokens_used`, `secretary` and
 * `passwordChangedAt` do not.
 */
export function isSecretName(name: string): boolean {
  if (!STEM.test(name)) return false
  const words = name.match(WORD)?.map((word) => word.toLowerCase()) ?? []
  const all = words.join('_')
  if (STRONG.test(all) && !ABOUT.test(all)) return true
  // Not with one regular expression for all of them, which would start again at each of thousands of words.
  const end = words.findLastIndex((word) => !TRAILING.test(word))
  return LAST.test(end === words.length - 1 ? all : words.slice(0, end + 1).join('_'))
}

/** Matches any of the parts as whole words of a name whose words are joined by underscores. */
function namePart(parts: readonly string[]): RegExp {
  return new RegExp(`(?:^|_)(?:${parts.join('|')})(?:_|$)`)
}
