/** Headers of a request: those of `fetch`, or an object as frameworks have it, with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export type VerifyWebhookOptions = {
  /** Maximum difference in seconds between the time of the attempt and now. Default: 300. */
  tolerance_s?: number
  /** The current time in milliseconds. Default: the clock. */
  now?: number
}

/**
 * Why a request was not accepted.
 * - `missing_header`: it has no `webhook-id`, `webhook-timestamp` or `webhook-signature`.
 * - `invalid_timestamp`: `webhook-timestamp` is not a number of seconds.
 * - `too_old`, `too_new`: the attempt is not from now: the request may be recorded, or a clock is wrong.
 * - `wrong_signature`: it was not signed with one of the secrets, or was changed; often the payload was parsed and
 *   serialized again.
 * - `invalid_json`: it was signed, but is not JSON.
 */
export type WebhookFault =
  | 'invalid_json'
  | 'invalid_timestamp'
  | 'missing_header'
  | 'too_new'
  | 'too_old'
  | 'wrong_signature'

export type VerifiedWebhook<Message> =
  | {
      ok: true
      /** The same in every attempt to deliver a message: an idempotency key. */
      id: string
      /** When this attempt was made. */
      timestamp: Date
      message: Message
    }
  | { ok: false; reason: WebhookFault }

const PREFIX = 'whsec_'

/**
 * Verifies a request as Standard Webhooks 1.0.0 defines it, with Web Crypto alone.
 * @param payload the body exactly as received, before it is parsed
 * @param secrets the secret of the webhook (`whsec_…`), or several while one is rotated
 * @throws {TypeError} if the payload was parsed or a secret is not valid: mistakes of the receiver, not of the request
 */
export async function verifyWebhook<Message = unknown>(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { tolerance_s = 300, now = Date.now() }: VerifyWebhookOptions = {},
): Promise<VerifiedWebhook<Message>> {
  // Express types `request.body` as `any`, so the compiler does not see that a middleware has parsed it.
  if (!(typeof payload === 'string' || ArrayBuffer.isView(payload))) {
    throw new TypeError('The payload must be the body as received, a string or bytes, not parsed')
  }
  const keys = [secrets].flat().map(keyOf)
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signature = headerOf(headers, 'webhook-signature')
  if (!id || !timestamp || !signature) return { ok: false, reason: 'missing_header' }
  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, reason: 'invalid_timestamp' }
  const late_s = Math.floor(now / 1000) - Number(timestamp)
  // Negated: NaN, as Number reads an unset variable, is neither above nor below, and would let a request of any age in.
  if (!(late_s <= tolerance_s)) return { ok: false, reason: 'too_old' }
  if (!(-late_s <= tolerance_s)) return { ok: false, reason: 'too_new' }
  const encoder = new TextEncoder()
  const body = typeof payload === 'string' ? encoder.encode(payload) : payload
  const head = encoder.encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  // Of other schemes, such as v1a, nothing is known.
  const signatures = signature.split(' ').flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []))
  if (!(await isSigned(signed, signatures, keys))) return { ok: false, reason: 'wrong_signature' }
  try {
    const message: Message = JSON.parse(new TextDecoder().decode(body))
    return { ok: true, id, timestamp: new Date(Number(timestamp) * 1000), message }
  } catch {
    return { ok: false, reason: 'invalid_json' }
  }
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const given = signatures.map(bytesOf)
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
    // Once per key, however many signatures an unknown sender lists.
    const right = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
    if (given.some((signature) => signature && isEqual(signature, right))) return true
  }
  return false
}

/** Compares in constant time. The length is no secret. */
function isEqual(given: Uint8Array, right: Uint8Array): boolean {
  if (given.length !== right.length) return false
  let difference = 0
  for (const [index, byte] of right.entries()) difference |= byte ^ (given[index] ?? 0)
  return difference === 0
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  // Undefined, if it comes from a variable that is not set.
  const text = typeof secret === 'string' ? secret : ''
  const key = bytesOf(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text)
  // Without it: an error ends up in a log.
  if (!key?.length) throw new TypeError('The secret of a webhook must be whsec_ and base64')
  return key
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.join(' ')
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
