import type { Request, Response } from 'express'
import { type Answering, addHeaders, CallerHasGone, headerList, ownerOf } from './answer.ts'
import type { AnswerCompression } from './answer-compression.ts'
import { GzipStream } from './gzip-stream.ts'

/** A file that is sent while it is made. */
export type StreamedFile<ContentType extends string = string> = {
  contentType: ContentType
  /** How it might be called where it is kept. */
  name: string
  /** All of it. Where it fails, the connection is broken off: nobody may take what was sent for the whole. */
  parts: AsyncIterable<Uint8Array>
  /** What is said behind the file, when all of it has been made (RFC 9110, 6.5). HTTP/1.0 has no place for it. */
  trailer?: { name: string; value: () => string | undefined } | undefined
}

type Sending = {
  status: number
  file: StreamedFile
  /** Throws where no more may be sent. */
  assertAllowed: () => Promise<void>
}

/**
 * Sends a file. The next part is made while its peer takes the one before; a peer that is too slow is cut off, as with any
 * answer.
 * @throws {Error} what making the first part has thrown, before anything is sent; after that the connection must be ended
 */
export async function sendStreamed(
  req: Request,
  res: Response,
  { status, file, assertAllowed }: Sending,
  { answers, compression, metrics }: Answering,
): Promise<void> {
  const isCompressed = Boolean(req.acceptsEncodings('gzip'))
  const made = isCompressed ? gzipped(file.parts, compression) : file.parts
  const parts = made[Symbol.asyncIterator]()
  const trailer = req.httpVersion === '1.0' ? undefined : file.trailer
  try {
    let part = await parts.next()
    if (res.closed) throw new CallerHasGone()
    addHeaders(res, {
      'Content-Type': file.contentType,
      'Content-Disposition': `attachment; filename="${file.name}"`,
      'Cache-Control': 'no-store',
      Vary: 'Accept-Encoding',
      ...(isCompressed && { 'Content-Encoding': 'gzip' }),
      ...(trailer && { Trailer: trailer.name }),
    })
    res.writeHead(status, headerList(res.locals.headers))
    const onCut = () => {
      res.locals.isCut = true
      metrics.peerCut('answer')
    }
    while (!part.done) {
      await assertAllowed()
      const next = parts.next()
      // It is looked at when the peer has taken this part.
      next.catch(() => {})
      if (part.value.length > 0 && !res.write(part.value)) {
        await answers.taken(res, { owner: ownerOf(res), onCut })
      }
      if (res.closed) throw new CallerHasGone()
      part = await next
    }
    const said = trailer?.value()
    if (trailer && said !== undefined) res.addTrailers({ [trailer.name]: said })
    res.end()
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
    const compressed = await compression.inTurn(() => stream.part(part))
    yield isBegun ? compressed : Buffer.concat([stream.head(), compressed])
    isBegun = true
  }
  yield isBegun ? stream.end() : Buffer.concat([stream.head(), stream.end()])
}
