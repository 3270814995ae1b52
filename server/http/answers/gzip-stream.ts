import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)

/** Magic number, deflate, no flags, no time, fastest level, unknown system (RFC 1952). */
const HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255)

/** An empty final block (RFC 1951). */
const LAST_BLOCK = Uint8Array.of(0x03, 0x00)

// A list shrinks to a third. Each part ends at a byte boundary, so that the next can follow.
const options = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }

/**
 * Compresses a stream part by part into one gzip member, because browsers ignore everything after the first member. The
 * parts share no dictionary, which costs nothing with half a megabyte each.
 */
export class GzipStream {
  #crc = 0
  #length = 0

  head(): Uint8Array {
    return HEAD
  }

  async part(bytes: Uint8Array): Promise<Uint8Array> {
    this.#crc = crc32(bytes, this.#crc)
    this.#length += bytes.length
    return await deflate(bytes, options)
  }

  end(): Uint8Array {
    const tail = Buffer.alloc(8)
    tail.writeUInt32LE(this.#crc)
    tail.writeUInt32LE(this.#length % 2 ** 32, 4)
    return Buffer.concat([LAST_BLOCK, tail])
  }
}
