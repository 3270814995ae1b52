// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { shareDifference, shareInterval } from '../../server/domain/share-intervals.ts'

const rounded = (share: number) => Number(share.toFixed(4))

describe('shareInterval', () => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998), 857–872, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %i of %i is the published one', (part, whole, low, high) => {
    const interval = shareInterval({ part, whole })
    expect([rounded(interval.low), rounded(interval.high)]).toEqual([low, high])
  })

  it('of everything ends at 1, and of nothing begins at 0', () => {
    expect(shareInterval({ part: 7, whole: 7 }).high).toBe(1)
    expect(shareInterval({ part: 0, whole: 7 }).low).toBe(0)
  })
})

describe('shareDifference', () => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998), 873–890, table II, method 10.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])(
    'of %i of %i minus %i of %i has the published interval',
    (part, whole, otherPart, otherWhole, low, high) => {
      const found = shareDifference({ part, whole }, { part: otherPart, whole: otherWhole })
      expect(found.difference).toBe(part / whole - otherPart / otherWhole)
      expect([rounded(found.low), rounded(found.high)]).toEqual([low, high])
    },
  )
})
