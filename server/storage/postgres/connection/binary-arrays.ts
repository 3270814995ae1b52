// Arrays in the binary format of PostgreSQL (array_recv). Writing and reading an event's values takes a fraction of the
// time of JSON or of a text array. The driver sends a buffer unchanged.

/** Header of an array: one dimension, whether it has nulls, the element type, the length, and the lower bound 1. */
const HEAD_BYTES = 20

/** Type identifiers, which are the same on every server. */
const TYPES = { boolean: 16, bigint: 20, integer: 23, text: 25, uuid: 2950 }

const UUID_BYTES = '00000010'
const NULL = 'ffffffff'

/** @param uuids as 32 digits each */
export function uuidArray(uuids: readonly (string | null)[]): Buffer {
  const head = headed(Buffer.alloc(HEAD_BYTES), 'uuid', uuids.length).toString('hex')
  const elements = uuids.map((uuid) => (uuid === null ? NULL : UUID_BYTES + uuid))
  return Buffer.from(head + elements.join(''), 'hex')
}

export function textArray(texts: readonly (string | null)[]): Buffer {
  let length = HEAD_BYTES
  for (const text of texts) length += text === null ? 4 : 4 + Buffer.byteLength(text)
  const bytes = headed(Buffer.allocUnsafe(length), 'text', texts.length)
  let place = HEAD_BYTES
  for (const text of texts) {
    const written = text === null ? -1 : bytes.write(text, place + 4)
    bytes.writeInt32BE(written, place)
    place += 4 + Math.max(written, 0)
  }
  return bytes
}

/** @param numbers integers */
export function bigintArray(numbers: readonly number[]): Buffer {
  return ofFixed('bigint', 8, numbers, (bytes, number, place) => {
    bytes.writeInt32BE(Math.floor(number / 2 ** 32), place)
    bytes.writeUInt32BE(number >>> 0, place + 4)
  })
}

export function integerArray(numbers: readonly number[]): Buffer {
  return ofFixed('integer', 4, numbers, (bytes, number, place) => bytes.writeInt32BE(number, place))
}

export function booleanArray(values: readonly boolean[]): Buffer {
  return ofFixed('boolean', 1, values, (bytes, value, place) => bytes.writeUInt8(Number(value), place))
}

function ofFixed<Value>(
  type: keyof typeof TYPES,
  width: number,
  values: readonly Value[],
  write: (bytes: Buffer, value: Value, place: number) => void,
): Buffer {
  const bytes = headed(Buffer.allocUnsafe(HEAD_BYTES + values.length * (4 + width)), type, values.length)
  let place = HEAD_BYTES
  for (const value of values) {
    bytes.writeInt32BE(width, place)
    write(bytes, value, place + 4)
    place += 4 + width
  }
  return bytes
}

function headed(bytes: Buffer, type: keyof typeof TYPES, length: number): Buffer {
  for (const [index, number] of [1, 1, TYPES[type], length, 1].entries())
    bytes.writeInt32BE(number, 4 * index)
  return bytes
}
