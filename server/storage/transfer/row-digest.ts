import { hash } from 'node:crypto'
import type { Row } from './tables.ts'

const MODULUS = 2n ** 64n

/** The number of rows, and a sum of their digests, which does not depend on the order of reading. */
export type TableDigest = { rows: number; sum: string }

export const EMPTY: TableDigest = { rows: 0, sum: '0' }

/** The digest of a table with more rows added, which all have the same columns. */
export function withRows({ rows, sum }: TableDigest, added: readonly Row[]): TableDigest {
  const names = Object.keys(added[0] ?? {}).sort()
  let total = BigInt(sum)
  for (const row of added) total += digestOf(names.map((name) => row[name]))
  return { rows: rows + added.length, sum: String(total % MODULUS) }
}

function digestOf(values: unknown[]): bigint {
  return hash('sha256', JSON.stringify(values), 'buffer').readBigUInt64BE()
}
