import { KeyFilter } from './bloom-filter.ts'
import { isMessageKey } from './posting-keys.ts'
import { PostingPacker } from './postings.ts'
import type { Run } from './run.ts'
import type { RunWriter } from './run-store.ts'
import { TimelinePacker } from './timeline.ts'

type RunOutline = Pick<Run, 'run' | 'level' | 'first_seq' | 'last_seq' | 'messages'>

/**
 * Writes one run, page by page, over as many of the writer's transactions as it takes. Its input is sorted: first all
 * postings, then the timelines.
 */
export class RunBuilder {
  readonly #outline: RunOutline
  readonly #writer: Pick<RunWriter, 'insertPage'>
  readonly #postings: PostingPacker
  readonly #timeline: TimelinePacker
  readonly filter: KeyFilter

  constructor(writer: Pick<RunWriter, 'insertPage'>, outline: RunOutline) {
    const { run, first_seq, messages } = outline
    const insertPages = (part: 'postings' | 'timeline') => {
      let index = 0
      return (bytes: Buffer) => writer.insertPage(run, part, index++, bytes)
    }
    this.#outline = outline
    this.#writer = writer
    this.#postings = new PostingPacker(first_seq, insertPages('postings'))
    this.#timeline = new TimelinePacker(first_seq, insertPages('timeline'))
    this.filter = KeyFilter.forKeys(messages)
  }

  /** Must be called by key, then by number. */
  addPosting(key: number, seq: number): void {
    if (isMessageKey(key)) this.filter.add(key)
    this.#postings.add(key, seq)
  }

  /** Must be called by customer, then by time, then by number. */
  addToTimeline(customer: number, at_ms: number, seq: number): void {
    this.#timeline.add(customer, at_ms, seq)
  }

  /** Writes the filter, yielding after each of its pages; then only the row of the run is missing. */
  *finish(): Generator<void, Run> {
    const { run } = this.#outline
    const postings = this.#postings.end()
    const timeline = this.#timeline.end()
    let index = 0
    for (const page of this.filter.pages()) {
      this.#writer.insertPage(run, 'filter', index++, page)
      yield
    }
    return { ...this.#outline, greatest_at_ms: this.#timeline.greatestAt_ms, postings, timeline }
  }
}
