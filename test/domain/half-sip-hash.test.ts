// engines: none (opens no store)

import { expect, it } from 'vitest'
import { halfSipHash } from '../../server/domain/half-sip-hash.ts'

/** From the reference implementation: for the bytes 0, 1, 2, … of this length, under the key 00 01 … 07. */
const vectors: [length: number, hash: string][] = [
  [0, '218d1f59b9b83cc8'],
  [4, 'd5e78a175be52ea1'],
  [8, 'edfee820bce4858c'],
  [16, '7336aad25f7bf3b5'],
]

it.each(vectors)('hashes %d bytes as the reference implementation does', (length, expected) => {
  const words = [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c].slice(0, length / 4)
  const { low, high } = halfSipHash({ low: 0x03020100, high: 0x07060504 }, words)
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(low)
  bytes.writeUInt32LE(high, 4)
  expect(bytes.toString('hex')).toBe(expected)
})
