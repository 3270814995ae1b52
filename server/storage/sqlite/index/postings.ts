import { ByteReader, ByteWriter, NUMBER_BYTES } from '../../../domain/varint.ts'
import { type Directory, lastPageUpTo, PAGE_BYTES, type Run } from './run.ts'

/**
 * Encodes a page of posting lists, with delta encoding and varints: per key, ascending, the difference to the previous
 * one; the first event number, relative to the run's first and doubled, plus one if others follow; those as
 * differences, then 0. A message takes about 8 bytes, another event of a customer 3, of a journey 1.
 */
export class PostingPacker {
  readonly #onPage: (bytes: Buffer) => void
  readonly #firstSeq: number
  readonly #page = new ByteWriter(PAGE_BYTES)
  readonly #firsts: number[] = []
  readonly #seconds: number[] = []
  #key = -1
  #seq = 0
  /** Whether the key's first number is not written yet, because it is unknown whether others follow. */
  #isPending = false

  /** @param onPage called with each full page */
  constructor(firstSeq: number, onPage: (bytes: Buffer) => void) {
    this.#firstSeq = firstSeq
    this.#onPage = onPage
  }

  /** Must be called by key, then by number. */
  add(key: number, seq: number): void {
    const isFull = this.#page.length > PAGE_BYTES - ENTRY_BYTES
    if (key === this.#key && !isFull) {
      if (this.#isPending) this.#writeFirst(true)
      this.#page.number(seq - this.#seq)
    } else {
      if (this.#key !== -1) this.#endKey()
      if (isFull) this.#endPage()
      if (this.#page.length === 0) this.#beginPage(key, seq)
      this.#page.number(key - this.#key)
      this.#key = key
      this.#isPending = true
    }
    this.#seq = seq
  }

  end(): Directory {
    if (this.#key !== -1) {
      this.#endKey()
      this.#endPage()
    }
    return { firsts: Float64Array.from(this.#firsts), seconds: Float64Array.from(this.#seconds) }
  }

  #writeFirst(hasMore: boolean) {
    this.#page.number(2 * (this.#seq - this.#firstSeq) + Number(hasMore))
    this.#isPending = false
  }

  #endKey() {
    if (this.#isPending) this.#writeFirst(false)
    else this.#page.number(0)
  }

  #beginPage(key: number, seq: number) {
    this.#firsts.push(key)
    this.#seconds.push(seq)
    this.#key = key
  }

  #endPage() {
    this.#onPage(this.#page.take())
  }
}

/** Maximum bytes written by one call of `add`: the end of a key, a key, a first number and the end of that. */
const ENTRY_BYTES = 4 * NUMBER_BYTES

/** Decodes a page of posting lists key by key. */
export class PostingReader {
  readonly #bytes: ByteReader
  readonly #firstSeq: number
  key: number
  #next = 0
  #hasMore = false

  constructor(bytes: Uint8Array, { first_seq }: Pick<Run, 'first_seq'>, firstKey: number) {
    this.#bytes = new ByteReader(bytes)
    this.#firstSeq = first_seq
    this.key = firstKey
  }

  /** Moves to the next key; false at the end of the page. Its numbers must have been read or skipped before. */
  nextKey(): boolean {
    if (this.#bytes.isAtEnd) return false
    this.key += this.#bytes.number()
    const head = this.#bytes.number()
    this.#hasMore = head % 2 === 1
    this.#next = this.#firstSeq + Math.floor(head / 2)
    return true
  }

  /** Returns the next number of the key; -1 after the last. */
  nextSeq(): number {
    const seq = this.#next
    if (seq === -1) return -1
    const difference = this.#hasMore ? this.#bytes.number() : 0
    this.#next = difference === 0 ? -1 : seq + difference
    return seq
  }

  /** Skips the unread numbers of the key. */
  skip(): void {
    if (this.#hasMore && this.#next !== -1) this.#bytes.skipPastZero()
  }
}

/** Reads one page of a run. */
export type PageSource = (run: Run, part: 'postings' | 'timeline', index: number) => Uint8Array

/** Yields the numbers of events with a key below a bound, descending, loading pages on demand. */
export function* postingsBelow(
  run: Run,
  readPage: PageSource,
  { key, below }: { key: number; below: number },
): Generator<number> {
  const { firsts } = run.postings
  for (let page = lastPageUpTo(run.postings, key, below - 1); page >= 0; page -= 1) {
    const first = firsts[page] as number
    const found = postingsOfPage(readPage(run, 'postings', page), run, { first, key })
    for (let index = found.length - 1; index >= 0; index -= 1) {
      const seq = found[index] as number
      if (seq < below) yield seq
    }
    // Only if the key is first on the page can the previous page have some of it too.
    if (first !== key) return
  }
}

/** Yields the numbers of events with a key from a bound on, ascending, loading pages on demand. */
export function* postingsFrom(
  run: Run,
  readPage: PageSource,
  { key, from }: { key: number; from: number },
): Generator<number> {
  const { firsts } = run.postings
  for (let page = Math.max(lastPageUpTo(run.postings, key, from), 0); page < firsts.length; page += 1) {
    const first = firsts[page] as number
    if (first > key) return
    for (const seq of postingsOfPage(readPage(run, 'postings', page), run, { first, key })) {
      if (seq >= from) yield seq
    }
  }
}

function postingsOfPage(
  bytes: Uint8Array,
  run: Run,
  { first, key }: { first: number; key: number },
): number[] {
  const reader = new PostingReader(bytes, run, first)
  const found: number[] = []
  while (reader.nextKey() && reader.key <= key) {
    if (reader.key < key) reader.skip()
    else for (let seq = reader.nextSeq(); seq !== -1; seq = reader.nextSeq()) found.push(seq)
  }
  return found
}
