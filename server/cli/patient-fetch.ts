import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from 'commander'
import { HOUR_MS } from '../domain/durations.ts'
import type { Output } from './command-io.ts'
import { CommandFailure } from './failure.ts'
import { duration_ms } from './options.ts'

/** How long the server may be unavailable by default. */
const PATIENCE = '2m'

/** The option for another time, in milliseconds. */
export function giveUpAfter(): Option {
  return new Option('--give-up-after <time>', 'stop after the server has been unavailable for this long')
    .argParser(duration_ms)
    .default(duration_ms(PATIENCE), PATIENCE)
}

/** A server that sends nothing for this long is unavailable: the longest reply takes some seconds to begin. */
const SILENCE_MS = 60_000

/** The same for an export. With a filter that matches little, the server may scan for minutes before the next line. */
const EXPORT_SILENCE_MS = 300_000

/** When to say that the server is awaited. */
const SLOW_MS = 5_000

const FIRST_BACKOFF_MS = 250
const LONGEST_BACKOFF_MS = 5_000

export type PatienceOptions = {
  /** How long the server may be unavailable. */
  patience_ms: number
  /** Ends every request and every wait. */
  signal: AbortSignal
  /** How to resume. */
  advice: string
  /** Told that the server is awaited, and why. */
  output: Output
}

/**
 * Returns a `fetch` that repeats a request while the server is unavailable or silent, or its response breaks off, with
 * exponential backoff. The response of an export is a stream that fails if the server falls silent in it. Only for
 * requests that are safe to repeat.
 * @throws {CommandFailure} if the server was unavailable for too long
 */
export function patientFetch({ patience_ms, signal, advice, output }: PatienceOptions) {
  return async (request: Request): Promise<Response> => {
    const began_ms = Date.now()
    const isExport = EXPORTS.test(new URL(request.url).pathname)
    /** Since when the server is unavailable. The silence of an export may have been work. */
    let since_ms: number | undefined
    let isTold = false
    const tell = (reason: string) => {
      if (!isTold) output.write(`waiting for the server: ${reason}\n`)
      isTold = true
    }
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted()
      let reason: string
      let retryAfter: string | null = null
      const slow = setTimeout(tell, SLOW_MS, 'no response yet')
      try {
        const response = await fetchUnlessSilent(request.clone(), {
          stop: signal,
          limit_ms: isExport ? EXPORT_SILENCE_MS : silence_ms(patience_ms),
        })
        // Proxies have statuses of their own, such as 520, for a server that is unavailable.
        if (response.status < 500 && response.status !== 429) {
          if (isExport || !response.body) return response
          return new Response(await response.arrayBuffer(), response)
        }
        // A rate limit is not an outage.
        if (response.status === 429) since_ms = Date.now()
        reason = `status ${response.status}`
        retryAfter = response.headers.get('retry-after')
        await response.body?.cancel()
      } catch (error) {
        signal.throwIfAborted()
        reason = causeText(error)
      } finally {
        clearTimeout(slow)
      }
      since_ms ??= isExport ? Date.now() : began_ms
      const left_ms = since_ms + patience_ms - Date.now()
      if (left_ms <= 0) throw unavailable(new URL(request.url).origin, { patience_ms, reason, advice })
      tell(reason)
      await sleep(Math.min(backoff_ms(attempt, retryAfter), left_ms), undefined, { signal })
    }
  }
}

/** The paths of exportEvents and exportCustomers. */
const EXPORTS = /\/(?:events|customers)\/export$/

async function fetchUnlessSilent(
  request: Request,
  { stop, limit_ms }: { stop: AbortSignal; limit_ms: number },
): Promise<Response> {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(noResponse(limit_ms)), limit_ms).unref()
  const response = await fetch(request, { signal: AbortSignal.any([stop, silent.signal]) }).finally(() =>
    timer.refresh(),
  )
  if (!response.body) return response
  const heard = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      timer.refresh()
      controller.enqueue(chunk)
    },
    flush: () => clearTimeout(timer),
  })
  return new Response(response.body.pipeThrough(heard), response)
}

/** How long a request may stay without a response; at least a second, which a busy server may need. */
export function silence_ms(patience_ms: number): number {
  return Math.max(1000, Math.min(SILENCE_MS, patience_ms))
}

export function noResponse(limit_ms: number): Error {
  return new Error(`no response within ${limit_ms / 1000} s`)
}

/** How long to wait after a failed attempt, the first of which is 0: with jitter, so that commands do not retry together. */
export function backoff_ms(attempt: number, retryAfter: string | null | undefined): number {
  const longest_ms = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(attempt, 10), LONGEST_BACKOFF_MS)
  return Math.max(retryAfter_ms(retryAfter), longest_ms * (0.5 + Math.random() / 2))
}

/**
 * Returns how long a `Retry-After` header asks to wait; 0 if it does not say so in seconds. At most an hour: some proxies ask
 * for a year, and a timer of more than 24 days fires at once.
 */
export function retryAfter_ms(retryAfter: string | null | undefined): number {
  return Math.min((Number(retryAfter) || 0) * 1000, HOUR_MS)
}

export function unavailable(
  server: string,
  { patience_ms, reason, advice }: { patience_ms: number; reason: string; advice: string },
): CommandFailure {
  const seconds = Math.round(patience_ms / 1000)
  return new CommandFailure(`${server} was unavailable for ${seconds} s: ${reason}. ${advice}`)
}

/** Returns the reason why fetch got no response, without a full stop: its own error says only that it failed. */
export function causeText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return cause.message.replace(/\.$/, '') || ('code' in cause ? String(cause.code) : cause.name)
}
