import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { type BodyKind, parseJson, parseJsonInPieces } from '../domain/json.ts'
import type { JsonValue } from '../domain/json-text.ts'
import { SENT_BYTES } from '../domain/sent-head.ts'
import { Problem } from '../problems.ts'
import type { Sent } from '../storage/refusals/refusal-writer.ts'
import { Unavailable } from '../storage/unavailable.ts'
import { MemoryBudget, type Reservation } from './memory-budget.ts'
import type { LoopTime } from './rates/loop-scheduler.ts'
import { refusalOf } from './requests-by-socket.ts'

/** Maximum inflated size of a body for which the contract sets no other limit: one event must not delay others. */
const LIMIT_BYTES = 64 * 1024

export type BodyLimits = {
  /** Maximum size, counted after decompression. */
  bytes?: number
  kind?: BodyKind
}

/** After a refusal this much is still read, so that the client sees the response; then the connection is closed. */
export const DRAIN_BYTES = 8 * 1024 * 1024
const DRAIN_MS = 5_000

/** Memory budget of all bodies in transfer or in use. As objects they take several times as much. */
const BODIES_BYTES = 64 * 1024 * 1024
const PATIENCE_MS = 10_000

/** Separate budget and patience for senders without a credential, who must not keep out the others. */
const NOBODYS_BYTES = 4 * 1024 * 1024
const NOBODYS_PATIENCE_MS = 5_000

/** A body larger than this is queued for parsing (see `LoopScheduler`): it takes a millisecond or more. */
const PARSED_AT_ONCE_BYTES = 64 * 1024

/** Memory of a gunzip stream: a window of 32 KiB and as much again around it. */
const GUNZIP_BYTES = 64 * 1024

/** What the bytes of a compressed body may exceed its limit by: of stored blocks, and of flushes between its parts. */
const GZIP_SURPLUS_BYTES = 64 * 1024

/** A shorter chunk is copied into a block with others: one of a single byte takes some 200 bytes of memory by itself. */
const SHORT_BYTES = 1024
const BLOCK_BYTES = 4 * 1024

// No two \s* are adjacent: with 15,000 spaces in the header the backtracking would take 0.2 s.
const JSON_TYPE = /^application\/json(\s*;\s*charset\s*=\s*("utf-8"|utf-8))?(\s*;)?\s*$/i

/** Receives a body within a memory budget that is shared by all senders. Only bytes that have arrived count. */
export class ArrivingBody {
  readonly #reservation: Reservation
  #fail: (error: unknown) => void = NOBODY_WAITS
  /** Bytes of the body so far, inflated. */
  length = 0
  /** The first bytes, once all have arrived: as many as are kept of a refused request. */
  #head: Uint8Array = NOTHING

  /** @param onSlow called for a sender that was too slow */
  constructor(budget: MemoryBudget, { owner, patience_ms, onSlow }: ArrivingBodyOptions) {
    const cut = () => {
      onSlow()
      this.#fail(new Problem('overloaded', { detail: TOO_SLOW }))
    }
    this.#reservation = budget.reserve({ owner, patience_ms, cut })
  }

  /**
   * Reads a JSON body. The Content-Type header is reduced to its bare form, because the validator compiles and keeps a
   * separate schema for every other form.
   *
   * @param loop the time of the event loop that the request uses
   * @throws {Problem} `unsupported_media_type`, `body_too_large`, `invalid_request` (no body), `invalid_json`,
   *   `overloaded` (too slow), or what the request was refused with by `refuseRest`
   * @throws {Unavailable} `overloaded` if too many bodies are in transfer
   */
  async json(req: IncomingMessage, limits: BodyLimits, loop: LoopTime): Promise<JsonValue> {
    const { bytes: limit_bytes = LIMIT_BYTES, kind = 'single' } = limits
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers
    const { 'transfer-encoding': transfer = 'chunked' } = req.headers
    const isGzip = /^(x-)?gzip$/i.test(encoding)
    // Node undoes the last coding of a transfer, `chunked`, and passes on what others have coded.
    const isReadable = (isGzip || /^identity$/i.test(encoding)) && /^chunked$/i.test(transfer)
    if (!JSON_TYPE.test(type) || !isReadable) {
      throw new Problem('unsupported_media_type', { headers: { 'Accept-Encoding': 'gzip' } })
    }
    req.headers['content-type'] = 'application/json'
    const bytes = await loop.away(this.#bytes(req, { isGzip, limit_bytes }))
    this.#reservation.settle()
    // A copy of a longer one, so that its memory is freed after parsing.
    this.#head = bytes.length > SENT_BYTES ? Buffer.from(bytes.subarray(0, SENT_BYTES)) : bytes
    if (bytes.length === 0) {
      throw new Problem('invalid_request', { faults: [{ detail: 'a JSON body is required', pointer: '' }] })
    }
    if (bytes.length <= PARSED_AT_ONCE_BYTES) return parseJson(bytes, kind)
    await loop.next()
    return await parseJsonInPieces(bytes, kind, () => loop.pass())
  }

  /** The body as far as it is kept of a rejected request. */
  get sent(): Sent {
    return { head: this.#head, bytes: this.length }
  }

  /** Releases the reservation. Call it once the request is answered, not when its connection closes. */
  leave(): void {
    this.#reservation.leave()
  }

  async #bytes(req: IncomingMessage, { isGzip, limit_bytes }: { isGzip: boolean; limit_bytes: number }) {
    const detail = `Send at most ${limit_bytes} bytes per request, counted after decompression.`
    const most_bytes = isGzip ? limit_bytes + GZIP_SURPLUS_BYTES : limit_bytes
    if (Number(req.headers['content-length']) > most_bytes) {
      throw new Problem('body_too_large', { detail })
    }
    const reservation = this.#reservation
    if (isGzip && !reservation.hold(GUNZIP_BYTES)) throw new Unavailable('overloaded')
    const gunzip = isGzip ? createGunzip() : undefined
    const source = gunzip ?? req
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const chunks = new Chunks()
    let arrived_bytes = 0
    const onArrival = (chunk: Buffer) => {
      reservation.moved(chunk.length)
      arrived_bytes += chunk.length
      if (arrived_bytes > most_bytes) reject(new Problem('body_too_large', { detail }))
    }
    const onData = (chunk: Buffer) => {
      if (!gunzip) onArrival(chunk)
      this.length += chunk.length
      if (this.length > limit_bytes) return reject(new Problem('body_too_large', { detail }))
      if (!reservation.hold(chunk.length)) return reject(new Unavailable('overloaded'))
      chunks.add(chunk)
    }
    const onEnd = () => resolve(chunks.whole())
    const onGone = (cause?: Error) => reject(unreadable('must arrive whole', cause))
    // Inflating ends later than the request, which closes at its end.
    const onClose = () => req.complete || onGone()
    this.#fail = reject
    source.on('data', onData)
    source.once('end', onEnd)
    // Never removed: without a listener a later error would end the process.
    req.on('error', onGone)
    req.once('close', onClose)
    if (gunzip) {
      gunzip.on('error', (cause) => reject(unreadable('must be gzip, as Content-Encoding says', cause)))
      req.on('data', onArrival)
      req.pipe(gunzip)
    }
    // The client may have disconnected while its key was looked up.
    if (req.destroyed) onGone()
    req.once('refused', reject)
    const refusal = refusalOf(req)
    if (refusal) reject(refusal)
    try {
      return await promise
    } finally {
      this.#fail = NOBODY_WAITS
      source.off('data', onData)
      source.off('end', onEnd)
      req.off('close', onClose)
      req.off('refused', reject)
      if (gunzip) {
        req.off('data', onArrival)
        req.unpipe(gunzip)
        gunzip.destroy()
      }
    }
  }
}

/** Collects the chunks of a body in about as much memory as they have bytes, however short they are. */
class Chunks {
  readonly #parts: Buffer[] = []
  /** The last part grows within it; the rest is free. */
  #block: Buffer | undefined
  #begin = 0
  #end = 0

  add(chunk: Buffer): void {
    // Most bodies arrive in one.
    if (this.#parts.length === 0 || chunk.length >= SHORT_BYTES) {
      this.#endPart()
      this.#parts.push(chunk)
      return
    }
    if (!this.#block || this.#end + chunk.length > BLOCK_BYTES) {
      this.#endPart()
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
      this.#begin = 0
      this.#end = 0
    }
    chunk.copy(this.#block, this.#end)
    this.#end += chunk.length
  }

  whole(): Buffer {
    this.#endPart()
    return Buffer.concat(this.#parts)
  }

  #endPart() {
    if (this.#block && this.#end > this.#begin) this.#parts.push(this.#block.subarray(this.#begin, this.#end))
    this.#begin = this.#end
  }
}

type ArrivingBodyOptions = { owner: string; patience_ms: number; onSlow: () => void }

const NOTHING = new Uint8Array()

/**
 * One function for all bodies. A closure made in the method that reads a body would retain everything in its scope,
 * including the request: once V8 promotes one to the old generation, the requests after it follow, and nothing is
 * collected while young.
 */
const NOBODY_WAITS = () => {}

const TOO_SLOW =
  'The body arrived too slowly while others were waiting. Send it again, faster or in smaller parts.'

/** Memory budgets for bodies: one for authenticated callers and one for all others. */
export class BodyMemory {
  readonly #known = new MemoryBudget(BODIES_BYTES)
  readonly #nobodys = new MemoryBudget(NOBODYS_BYTES)
  readonly #onSlow: () => void

  /** @param options.onSlow called for every sender that was too slow */
  constructor({ onSlow }: { onSlow: () => void }) {
    this.#onSlow = onSlow
  }

  /** @param caller `isNobody` without a credential; `owner` is then the network, else the key or the person */
  enter({ owner, isNobody }: { owner: string; isNobody: boolean }): ArrivingBody {
    const onSlow = this.#onSlow
    return isNobody
      ? new ArrivingBody(this.#nobodys, { owner, patience_ms: NOBODYS_PATIENCE_MS, onSlow })
      : new ArrivingBody(this.#known, { owner, patience_ms: PATIENCE_MS, onSlow })
  }
}

function unreadable(detail: string, cause: unknown): Problem {
  return new Problem('invalid_json', { faults: [{ detail, pointer: '' }], cause })
}

/** Ignores the body of a request to an operation that has none; it is drained after the response. */
export function ignoreBody(req: IncomingMessage): void {
  delete req.headers['content-type']
}

/**
 * Reads what the client still sends after its response, within bounds.
 * @param end ends the response. Called once everything is read, because Node would otherwise close the connection while
 *   the client sends, or keep reading without bounds.
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
