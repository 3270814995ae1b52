import type { IncomingMessage } from 'node:http'
import { createGunzip, type Gunzip } from 'node:zlib'
import getRawBody from 'raw-body'
import { type JsonValue, parseJson } from './domain/json.ts'
import { Problem } from './problems.ts'

/** The largest body, inflated: one event must not hold up others. */
const LIMIT_BYTES = 64 * 1024

/** What follows a refusal is read up to here, so that the sender gets to see the answer; then the connection ends. */
const DRAIN_BYTES = 8 * 1024 * 1024
const DRAIN_MS = 5_000

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

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

/** Reads what the sender still sends after its answer, within bounds. */
export function drain(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return
  let bytes = 0
  const timer = setTimeout(() => req.destroy(), DRAIN_MS)
  req.unpipe()
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN_BYTES) req.destroy()
  })
  req.once('close', () => clearTimeout(timer))
  req.resume()
}

async function readBytes(req: IncomingMessage, gunzip: Gunzip | undefined): Promise<Buffer> {
  try {
    const length = gunzip ? null : (req.headers['content-length'] ?? null)
    return await getRawBody(gunzip ?? req, { limit: LIMIT_BYTES, length })
  } catch (error) {
    gunzip?.destroy()
    if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') {
      throw new Problem('body_too_large', {
        detail: `Send at most ${LIMIT_BYTES} bytes at once, counted after inflating.`,
      })
    }
    const detail = gunzip ? 'must be gzip, as Content-Encoding says' : 'must arrive whole'
    throw new Problem('invalid_json', { faults: [{ detail, pointer: '' }], cause: error })
  }
}

function inflated(req: IncomingMessage): Gunzip {
  const gunzip = req.pipe(createGunzip())
  // A sender that goes away never ends the pipe.
  req.once('close', () => {
    if (!req.complete) gunzip.destroy(new Error('the request was aborted'))
  })
  return gunzip
}
