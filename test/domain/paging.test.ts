// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { cursorPosition } from '../../server/domain/cursors.ts'
import { fittingPage, PAGE_BYTES } from '../../server/domain/paging.ts'

/** Rows with these sizes in JSON bytes, in the order of their positions. */
function rowsOf(...sizes: number[]) {
  return sizes.map((size, ms) => ({
    row: 'x'.repeat(size - 2),
    position: { ms, id: `cus_${String(ms).padStart(26, '0')}` },
  }))
}

function read(page: ReturnType<typeof fittingPage<string>>) {
  const { data, next_cursor }: { data: string[]; next_cursor: string | null } = JSON.parse(
    new TextDecoder().decode(page.bytes),
  )
  return { sizes: data.map((row) => row.length + 2), next: next_cursor && cursorPosition(next_cursor, 'cus') }
}

describe('a page of rows of any length', () => {
  it('has those that fit into 1 MiB, and continues after the last of them', () => {
    const rows = rowsOf(1_000, PAGE_BYTES - 1_000, 2)
    expect(read(fittingPage({ rows, next: null }))).toEqual({
      sizes: [1_000, PAGE_BYTES - 1_000],
      next: rows[1]?.position,
    })
  })

  it('has all if they fit, and continues where the read ended', () => {
    const next = { ms: 9, id: `cus_${'9'.repeat(26)}` }
    expect(read(fittingPage({ rows: rowsOf(10, 20), next }))).toEqual({ sizes: [10, 20], next })
    expect(read(fittingPage({ rows: [], next: null }))).toEqual({ sizes: [], next: null })
  })

  it('has at least one row', () => {
    const rows = rowsOf(PAGE_BYTES + 1, 2)
    expect(read(fittingPage({ rows, next: null }))).toEqual({
      sizes: [PAGE_BYTES + 1],
      next: rows[0]?.position,
    })
  })
})
