import type { Response } from 'express'
import { type Answering, addHeaders, CallerHasGone, type Headers, ownerOf } from './answer.ts'
import { securityHeaders } from './security-headers.ts'

/** A file that is sent while it is made. */
export type StreamedFile<ContentType extends string = string> = {
  contentType: ContentType
  /** How it might be called where it is kept. */
  name: string
  /** All of it. Where it fails, the connection is broken off: nobody may take what was sent for the whole. */
  parts: AsyncIterable<Uint8Array>
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
  res: Response,
  { status, file, assertAllowed }: Sending,
  { answers, metrics }: Answering,
): Promise<void> {
  const parts = file.parts[Symbol.asyncIterator]()
  try {
    let part = await parts.next()
    if (res.closed) throw new CallerHasGone()
    addHeaders(res, {
      'Content-Type': file.contentType,
      'Content-Disposition': `attachment; filename="${file.name}"`,
      'Cache-Control': 'no-store',
    })
    res.writeHead(status, { ...securityHeaders, ...(res.locals.headers as Headers) })
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
    res.end()
  } finally {
    await parts.return?.()
  }
}
