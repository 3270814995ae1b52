import { setTimeout as sleep } from 'node:timers/promises'
import type { components } from '../../../generated/contract.ts'
import { cursorText, type Position } from '../../domain/cursors.ts'
import { type ExportFormat, endText, headText } from '../../domain/export-formats.ts'
import { instantText } from '../../domain/instants.ts'
import { Unavailable } from '../unavailable.ts'
import type { Slice, WalkBound } from './exports.ts'

const encoder = new TextEncoder()

type End = components['schemas']['ExportEnd']

/** What is exported, and how its slices are read. */
export type Export = {
  list: End['list']
  filter: End['filter']
  after: Position
  limit: number | undefined
  format: ExportFormat
  bound: Pick<WalkBound, 'caughtUp_ms'>
  /** The caller's. */
  signal: AbortSignal
  read: (after: Position, most: number) => Promise<Slice>
  /** Throws if what is exported may have been removed while it was read. */
  assertThere: () => Promise<void>
  /** Called with the end, after the last line. */
  onEnd: (end: End) => void
}

/** Yields the slices of an export, and its last line if the format has one. */
export async function* exportLines({
  list,
  filter,
  after,
  limit,
  format,
  bound,
  signal,
  read,
  assertThere,
  onEnd,
}: Export): AsyncGenerator<Uint8Array> {
  let next = after
  let count = 0
  let isLast = false
  let head = headText(format, list)
  const most = () => (limit === undefined ? Number.MAX_SAFE_INTEGER : limit - count)
  for await (const slice of exportSlices(after, signal, (behind) => read(behind, most()))) {
    next = slice.next
    count += slice.lines
    isLast = slice.isLast
    // After the first read, so that its failure can still be answered with an error status.
    if (head !== '') yield encoder.encode(head)
    head = ''
    yield slice.bytes
    if (most() <= 0) break
  }
  await assertThere()
  const caught_up_to = isLast ? instantText(bound.caughtUp_ms) : null
  const end = { end: count, list, filter, next_cursor: cursorText(next), caught_up_to }
  yield encoder.encode(endText(format, end))
  onEnd(end)
}

/** Yields the slices up to the last one. */
export async function* exportSlices(
  after: Position,
  signal: AbortSignal,
  read: (after: Position) => Promise<Slice>,
): AsyncGenerator<Slice> {
  let slice = await read(after)
  yield slice
  while (!slice.isLast) {
    const { next } = slice
    slice = await patiently(signal, () => read(next))
    yield slice
  }
}

/** Retries of a slice that does not start before its deadline, for about a minute: half of an export would be useless. */
const ATTEMPTS = 12
const PAUSE_MS = 500

async function patiently<Read>(signal: AbortSignal, read: () => Promise<Read>): Promise<Read> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      const isBusy = error instanceof Unavailable && error.reason === 'overloaded'
      if (!isBusy || attempt === ATTEMPTS) throw error
      await pause(PAUSE_MS, signal)
    }
  }
}

/** Replicas agree on the order within about a second. */
const SETTLED_WITHIN_MS = 5_000
const LOOK_MS = 100

type CaughtUp = Pick<WalkBound, 'caughtUp_ms'>

/**
 * Polls until everything acknowledged before an instant is visible, for example the end of an export that starts then.
 * @throws {Unavailable} if that takes longer than replicas should need: what comes late would be missing unnoticed
 */
export async function settled<Seen extends CaughtUp>(
  begun_ms: number,
  signal: AbortSignal,
  look: () => Promise<Seen>,
  within_ms = SETTLED_WITHIN_MS,
): Promise<Seen> {
  const seen = await settledIfSoon(begun_ms, signal, look, within_ms)
  if (seen.caughtUp_ms >= begun_ms) return seen
  throw new Unavailable(
    'overloaded',
    new Error(`not settled up to ${instantText(begun_ms)} in ${within_ms} ms`),
  )
}

/** The same, but returns the last result if it takes too long. */
export async function settledIfSoon<Seen extends CaughtUp>(
  begun_ms: number,
  signal: AbortSignal,
  look: () => Promise<Seen>,
  within_ms = SETTLED_WITHIN_MS,
): Promise<Seen> {
  for (const until_ms = performance.now() + within_ms; ; ) {
    const seen = await look()
    if (seen.caughtUp_ms >= begun_ms || performance.now() > until_ms) return seen
    await pause(LOOK_MS, signal)
  }
}

/**
 * Waits.
 * @throws the signal's reason as soon as it is aborted; the error of Node's timer would look like a fault
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
