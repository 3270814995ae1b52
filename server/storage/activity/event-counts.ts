import { ByteReader, ByteWriter, NUMBER_BYTES } from '../../domain/varint.ts'
import type { ActivityCounts } from './activity.ts'

/** The counts of one series. */
export type SeriesCounts = ActivityCounts & { number: number }

/** Encodes the counts of a period: the total, followed by each series. */
export function packCounts(counts: readonly SeriesCounts[]): Uint8Array {
  const writer = new ByteWriter((3 + 4 * counts.length) * NUMBER_BYTES)
  const total = { created: 0, duplicate: 0, rejected: 0 }
  for (const count of counts) addCounts(total, count)
  writeCounts(writer, total)
  for (const count of counts) {
    writer.number(count.number)
    writeCounts(writer, count)
  }
  return writer.take()
}

/** Length of the encoded total at the start. */
export const TOTAL_BYTES = 3 * NUMBER_BYTES

/** Decodes the total. @param packed or its first `TOTAL_BYTES` */
export function totalOf(packed: Uint8Array): ActivityCounts {
  return readCounts(new ByteReader(packed))
}

/** Calls back for each series. */
export function eachCounts(
  packed: Uint8Array,
  visit: (number: number, created: number, duplicate: number, rejected: number) => void,
): void {
  const reader = new ByteReader(packed)
  readCounts(reader)
  while (!reader.isAtEnd) visit(reader.number(), reader.number(), reader.number(), reader.number())
}

export function unpackCounts(packed: Uint8Array): SeriesCounts[] {
  const counts: SeriesCounts[] = []
  eachCounts(packed, (number, created, duplicate, rejected) => {
    counts.push({ number, created, duplicate, rejected })
  })
  return counts
}

/** Adds counts to those of a stored period. */
export function addedCounts(packed: Uint8Array | undefined, added: readonly SeriesCounts[]): Uint8Array {
  const known = packed ? unpackCounts(packed) : []
  const sums = new Map(known.map((counts) => [counts.number, counts]))
  for (const counts of added) {
    const sum = sums.get(counts.number)
    if (sum) addCounts(sum, counts)
    else sums.set(counts.number, { ...counts })
  }
  return packCounts([...sums.values()].map(notNegative))
}

/** What is taken back of a series whose counts are no longer there: a negative number would make the others unreadable. */
function notNegative({ number, created, duplicate, rejected }: SeriesCounts): SeriesCounts {
  return {
    number,
    created: Math.max(created, 0),
    duplicate: Math.max(duplicate, 0),
    rejected: Math.max(rejected, 0),
  }
}

export function addCounts(sum: ActivityCounts, { created, duplicate, rejected }: ActivityCounts): void {
  sum.created += created
  sum.duplicate += duplicate
  sum.rejected += rejected
}

function writeCounts(writer: ByteWriter, { created, duplicate, rejected }: ActivityCounts) {
  writer.number(created)
  writer.number(duplicate)
  writer.number(rejected)
}

function readCounts(reader: ByteReader): ActivityCounts {
  return { created: reader.number(), duplicate: reader.number(), rejected: reader.number() }
}
