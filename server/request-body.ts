import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import { createGunzip, type Gunzip } from 'node:zlib'
import getRawBody from 'raw-body'
import { type JsonValue, parseJson } from './domain/json.ts'
import { Problem } from './problems.ts'
import { Unavailable } from './storage/unavailable.ts'

/** The largest body, inflated, where the contract sets no other limit: one event must not hold up others. */
const LIMIT_BYTES = 64 * 1024

export type BodyLimits = {
  /** Counted after inflating. */
  bytes?: number
  /** Whether the sender has shown no credential: it gets less memory and less time. */
  isNobody?: boolean
  /** How many levels lie around a field's value: 1 for an object, which is the default. */
  envelope?: number
}

/** What follows a refusal is read up to here, so that the sender gets to see the answer; then the connection ends. */
const DRAIN_BYTES = 8 * 1024 * 1024
const DRAIN_MS = 5_000

/** All bodies that are read or worked on at a time. As objects they take several times as much memory. */
const BODIES_BYTES = 64 * 1024 * 1024

/** Of senders that have shown no credential, apart from the others, whom they must not keep out; and their time. */
const NOBODYS_BYTES = 4 * 1024 * 1024
const NOBODYS_MS = 5_000

// No two \s* meet: with 15,000 spaces in the header they would cost 0.2 s.
const JSON_TYPE = /^application\/json(\s*;\s*charset\s*=\s*("utf-8"|utf-8))?(\s*;)?\s*$/i

/**
 * Reads a JSON body. The header Content-Type is reduced to its bare form, because the contract's check compiles and
 * keeps a validator for every other one.
 *
 * @throws {Problem} `unsupported_media_type`, `body_too_large`, `invalid_request` (no body), `invalid_json`
 */
export async function readJsonBody(req: IncomingMessage, limits: BodyLimits = {}): Promise<JsonValue> {
  const { bytes: limit_bytes = LIMIT_BYTES, envelope = 1, isNobody = false } = limits
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers
  const isGzip = /^(x-)?gzip$/i.test(encoding)
  if (!JSON_TYPE.test(type) || !(isGzip || /^identity$/i.test(encoding))) {
    throw new Problem('unsupported_media_type', { headers: { 'Accept-Encoding': 'gzip' } })
  }
  req.headers['content-type'] = 'application/json'
  const deadline = isNobody ? setTimeout(() => req.destroy(), NOBODYS_MS) : undefined
  const bytes = await readBytes(req, isGzip ? inflated(req) : undefined, limit_bytes).finally(() => {
    clearTimeout(deadline)
  })
  if (bytes.length === 0) {
    throw new Problem('invalid_request', { faults: [{ detail: 'a JSON body is required', pointer: '' }] })
  }
  return parseJson(bytes, envelope)
}

/** Bounds the memory for bodies, however many senders there are. */
export class BodyBudget {
  #left = { known: BODIES_BYTES, nobody: NOBODYS_BYTES }

  /**
   * Sets aside what the body may take.
   * @returns gives it back, when the request has been answered
   * @throws {Unavailable} `overloaded`, where too many bodies are on their way
   */
  reserve({ headers }: IncomingMessage, limits: BodyLimits): () => void {
    const { bytes: limit_bytes = LIMIT_BYTES, isNobody = false } = limits
    const whose = isNobody ? 'nobody' : 'known'
    // A length that is not told, or not that of the inflated body, may turn out to be the greatest.
    const isTold = headers['content-length'] !== undefined && headers['content-encoding'] === undefined
    const bytes = isTold ? Math.min(Number(headers['content-length']), limit_bytes) : limit_bytes
    if (bytes > this.#left[whose]) throw new Unavailable('overloaded')
    this.#left[whose] -= bytes
    return () => {
      this.#left[whose] += bytes
    }
  }
}

/** Forgets the body of a request to an operation that has none; it is drained after the answer. */
export function ignoreBody(req: IncomingMessage): void {
  delete req.headers['content-type']
}

/**
 * Reads what the sender still sends after it was sent its answer, within bounds.
 * @param end ends the answer. Not before all is read: Node would close the connection under the sender's hands, or read
 *   on without bounds.
 */
export function drain(req: IncomingMessage, end: () => void): void {
  let bytes = 0
  const cut = () => {
    end()
    req.destroy()
  }
  const timer = setTimeout(cut, DRAIN_MS)
  req.unpipe()
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN_BYTES) cut()
  })
  req.once('end', end)
  req.once('close', () => clearTimeout(timer))
  req.resume()
}

async function readBytes(
  req: IncomingMessage,
  gunzip: Gunzip | undefined,
  limit_bytes: number,
): Promise<Buffer> {
  try {
    const length = gunzip ? null : (req.headers['content-length'] ?? null)
    return await getRawBody(gunzip ?? req, { limit: limit_bytes, length })
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') {
      throw new Problem('body_too_large', {
        detail: `Send at most ${limit_bytes} bytes at once, counted after inflating.`,
      })
    }
    const detail = gunzip ? 'must be gzip, as Content-Encoding says' : 'must arrive whole'
    throw new Problem('invalid_json', { faults: [{ detail, pointer: '' }], cause: error })
  } finally {
    // Also after success: a sender that goes away behind the end of its gzip data would find nobody to hear the error.
    gunzip?.destroy()
  }
}

function inflated(req: IncomingMessage): Gunzip {
  const gunzip = req.pipe(createGunzip())
  // A sender that goes away never ends the pipe; it may have gone already, while its key was looked up.
  finished(req, (error) => {
    if (error) gunzip.destroy(error)
  })
  return gunzip
}
