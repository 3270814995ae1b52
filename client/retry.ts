/** Upper bound of the first random wait; it doubles with each further attempt. */
const firstBackoff_ms = 500

/** Maximum length of one wait. If the server asks for more, the call returns its response instead of retrying. */
const longestWait_ms = 60_000

type RetryOptions = {
  /** Default: 4. */
  retries: number | undefined
  signal: AbortSignal | undefined
}

/**
 * Calls `send` until the response needs no retry.
 *
 * A 429 is always retried, because nothing was stored. A network error, a 503, or the 502 or 504 of a proxy whose
 * server did not answer leaves the outcome unknown, so it is retried only if the request is `repeatable`. The wait is
 * exponential backoff with full jitter, added to what `Retry-After` asks for (RFC 9110, section 10.2.3).
 *
 * Resolves with the last response after `retries` retries, or immediately if `Retry-After` is more than 60 seconds.
 * Rejects with the last network error, or with the signal's reason.
 */
export async function fetchWithRetries(
  send: () => Promise<Response>,
  repeatable: boolean,
  { retries = 4, signal }: RetryOptions,
): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const last = attempt >= retries
    // Without jitter, clients that were refused together would retry together.
    const backoff_ms = Math.random() * firstBackoff_ms * 2 ** attempt
    let asked_ms = 0
    try {
      const response = await send()
      const { status } = response
      if (last || !(status === 429 || (repeatable && status >= 502 && status <= 504))) return response
      asked_ms = retryAfter_ms(response)
      if (asked_ms > longestWait_ms) return response
    } catch (error) {
      if (last || !repeatable) throw error
    }
    await delay(Math.min(asked_ms + backoff_ms, longestWait_ms), signal)
  }
}

/** Reads `Retry-After`, in seconds or as an HTTP date; 0 if it is absent or invalid. */
function retryAfter_ms(response: Response): number {
  const value = response.headers.get('retry-after') ?? ''
  const wait_ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Math.max(wait_ms || 0, 0)
}

function delay(wait_ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, wait_ms)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort)
  })
}
