import type { Request, Response } from 'express'
import { type Answering, addHeaders, answer, ClientDisconnected, end, headerList, peerOf } from './answer.ts'
import type { AnswerCompression } from './answer-compression.ts'
import { etagOf, isKnown } from './entity-tags.ts'
import { GzipStream } from './gzip-stream.ts'
import { isGone } from './unread-answers.ts'

/** A file that is streamed while it is produced. */
export type StreamedFile<ContentType extends string = string> = {
  contentType: ContentType
  /** Suggested file name. */
  name: string
  /** Identifies the content. A client that has it already gets 304 (RFC 9110, section 13.1.2). */
  digest?: string | undefined
  /** The content. If it fails, the connection is closed, so that nobody takes a part for the whole. */
  parts: AsyncIterable<Uint8Array>
  /** Trailer field, evaluated after all parts (RFC 9110, section 6.5). HTTP/1.0 has none. */
  trailer?: { name: string; value: () => string | undefined } | undefined
}

type Sending = {
  status: number
  file: StreamedFile
  /** Throws if sending must stop. */
  assertAllowed: () => Promise<void>
}

/**
 * Sends a file. The next part is produced while the client takes the previous one (backpressure); a client that is too
 * slow is disconnected, as for any response.
 * @throws {Error} if the first part fails, before anything is sent; after that the caller must close the connection
 */
export async function sendStreamed(
  req: Request,
  res: Response,
  { status, file, assertAllowed }: Sending,
  answering: Answering,
): Promise<void> {
  const { answers, compression, metrics } = answering
  const isCompressed = Boolean(req.acceptsEncodings('gzip'))
  if (file.digest !== undefined) {
    const known = req.headers['if-none-match']
    const plain = etagOf(file.digest, false)
    // A client that accepts gzip accepts the plain form too, so that one is chosen if the client has it. A 304 with the
    // tag of the other form would tell a cache to update what it does not have (RFC 9111, section 4.3.4).
    const etag = isKnown(plain, known) ? plain : etagOf(file.digest, isCompressed && 'gzip')
    addHeaders(res, { ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Accept-Encoding' })
    if (isKnown(etag, known)) return answer(res, { status: 304 }, answering)
  }
  const made = isCompressed ? gzipped(file.parts, compression) : file.parts
  const parts = made[Symbol.asyncIterator]()
  const trailer = req.httpVersion === '1.0' ? undefined : file.trailer
  try {
    let part = await parts.next()
    if (isGone(res)) throw new ClientDisconnected()
    addHeaders(res, {
      // Without a charset some clients read text as ISO-8859-1, for example Requests for Python (RFC 2616, section 3.7.1).
      'Content-Type': file.contentType === 'text/csv' ? 'text/csv; charset=utf-8' : file.contentType,
      'Content-Disposition': `attachment; filename="${file.name}"`,
      ...(file.digest === undefined && { 'Cache-Control': 'no-store' }),
      Vary: 'Accept-Encoding',
      ...(isCompressed && { 'Content-Encoding': 'gzip' }),
      ...(trailer && { Trailer: trailer.name }),
    })
    res.writeHead(status, headerList(res.locals.headers))
    const peer = peerOf(res, metrics)
    while (!part.done) {
      await assertAllowed()
      const next = parts.next()
      // Its error is handled after the client has taken this part.
      next.catch(() => {})
      if (part.value.length > 0 && !res.write(part.value)) await answers.taken(res, peer)
      if (isGone(res)) throw new ClientDisconnected()
      part = await next
    }
    const said = trailer?.value()
    if (trailer && said !== undefined) res.addTrailers({ [trailer.name]: said })
    end(res)
  } finally {
    await parts.return?.()
  }
}

async function* gzipped(
  parts: AsyncIterable<Uint8Array>,
  compression: AnswerCompression,
): AsyncGenerator<Uint8Array> {
  const stream = new GzipStream()
  let isBegun = false
  for await (const part of parts) {
    if (part.length === 0) continue
    const compressed = await compression.queued(() => stream.part(part))
    yield isBegun ? compressed : Buffer.concat([stream.head(), compressed])
    isBegun = true
  }
  yield isBegun ? stream.end() : Buffer.concat([stream.head(), stream.end()])
}
