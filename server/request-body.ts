import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import { createGunzip, type Gunzip } from 'node:zlib'
import getRawBody from 'raw-body'
import { type JsonValue, parseJson } from './domain/json.ts'
import { Problem } from './problems.ts'

/** The largest body, inflated: one event must not hold up others. */
const LIMIT_BYTES = 64 * 1024

/** What follows a refusal is read up to here, so that the sender gets to see the answer; then the connection ends. */
const DRAIN_BYTES = 8 * 1024 * 1024
const DRAIN_MS = 5_000

// No two \s* meet: with 15,000 spaces in the header they would cost 0.2 s.
const JSON_TYPE = /^application\/json(\s*;\s*charset\s*=\s*("utf-8"|utf-8))?(\s*;)?\s*$/i

/**
 * Reads a JSON body. The header Content-Type is reduced to its bare form, because the contract's check compiles and
 * keeps a validator for every other one.
 *
 * @throws {Problem} `unsupported_media_type`, `body_too_large`, `invalid_request` (no body), `invalid_json`
 */
export async function readJsonBody(req: IncomingMessage): Promise<JsonValue> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers
  const isGzip = /^(x-)?gzip$/i.test(encoding)
  if (!JSON_TYPE.test(type) || !(isGzip || /^identity$/i.test(encoding))) {
    throw new Problem('unsupported_media_type', { headers: { 'Accept-Encoding': 'gzip' } })
  }
  req.headers['content-type'] = 'application/json'
  const bytes = await readBytes(req, isGzip ? inflated(req) : undefined)
  if (bytes.length === 0) {
    throw new Problem('invalid_request', { faults: [{ detail: 'a JSON body is required', pointer: '' }] })
  }
  return parseJson(bytes)
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

async function readBytes(req: IncomingMessage, gunzip: Gunzip | undefined): Promise<Buffer> {
  try {
    const length = gunzip ? null : (req.headers['content-length'] ?? null)
    return await getRawBody(gunzip ?? req, { limit: LIMIT_BYTES, length })
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') {
      throw new Problem('body_too_large', {
        detail: `Send at most ${LIMIT_BYTES} bytes at once, counted after inflating.`,
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
