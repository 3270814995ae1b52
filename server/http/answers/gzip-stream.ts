import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)

/** Magic, deflate, no flags, no time, the fastest level, an unknown system (RFC 1952). */
const HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255)

/** An empty block that says that it is the last (RFC 1951). */
const LAST_BLOCK = Uint8Array.of(0x03, 0x00)

// A list shrinks to a third. Each part ends at a byte, so that the next can follow.
const options = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }

/**
 * Compresses what is sent part by part, as one gzip member: browsers ignore all behind the first. Parts know nothing of each
 * other, which costs nothing where each has half a megabyte.
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
