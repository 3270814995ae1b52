import type { Connection } from '../connection.ts'
import { KeyFilter } from './bloom-filter.ts'
import type { PageSource } from './postings.ts'
import {
  type Directory,
  directoryBytes,
  type PARTS,
  pageNumber,
  type Run,
  readDirectory,
  runOfPage,
} from './run.ts'

type RunRow = Omit<Run, 'postings' | 'timeline'> & { postings: Uint8Array; timeline: Uint8Array }

/** The runs of a store as a connection sees them, and their pages. */
export class RunStore {
  readonly #statements: ReturnType<typeof prepare>
  /** By number. */
  readonly #known = new Map<number, Run>()

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /** Returns all runs, the latest events first. */
  all(): Run[] {
    const rows = this.#statements.runs.all()
    if (this.#known.size > 2 * rows.length) this.#known.clear()
    return rows.map(({ run, last_seq }) => {
      const known = this.#known.get(run)
      // Once a run is dropped, a writer that is opened after that may give its number to another.
      return known?.last_seq === last_seq ? known : this.#load(run)
    })
  }

  readonly readPage: PageSource = (run, part, index) => {
    const page = this.#statements.page.get(pageNumber(run.run, part, index))
    if (!page) throw new Error(`run ${run.run} has no page ${index} of its ${part}`)
    return page
  }

  readFilter({ run }: Run): KeyFilter {
    const first = pageNumber(run, 'filter', 0)
    return KeyFilter.ofPages(this.#statements.pages.iterate(first, pageNumber(run + 1, 'postings', 0)))
  }

  #load(number: number): Run {
    const row = this.#statements.run.get(number)
    if (!row) throw new Error(`there is no run ${number}`)
    const run = { ...row, postings: readDirectory(row.postings), timeline: readDirectory(row.timeline) }
    this.#known.set(number, run)
    return run
  }
}

/** Writes runs, within the writer's transactions. */
export class RunWriter {
  readonly #statements: ReturnType<typeof prepareWrites>

  constructor(connection: Connection) {
    this.#statements = prepareWrites(connection)
  }

  /** Returns a number that neither a run nor a leftover page has. */
  newNumber(): number {
    const page = this.#statements.lastPage.get() ?? 0
    return Math.max(this.#statements.lastRun.get() ?? 0, runOfPage(page)) + 1
  }

  insertPage(run: number, part: keyof typeof PARTS, index: number, bytes: Buffer): void {
    this.#statements.insertPage.run(pageNumber(run, part, index), bytes)
  }

  insertRun(run: Run): void {
    const directories = [run.postings, run.timeline].map((directory: Directory) => directoryBytes(directory))
    const { level, first_seq, last_seq, greatest_at_ms, messages } = run
    this.#statements.insertRun.run(
      run.run,
      level,
      first_seq,
      last_seq,
      greatest_at_ms,
      messages,
      ...directories,
    )
  }

  /** Deletes the row; its pages stay until they are removed. */
  deleteRun({ run }: Run): void {
    this.#statements.deleteRun.run(run)
  }

  /** Removes some pages of a run that was deleted or never completed. @returns false if none are left */
  deleteSomePages(run: number): boolean {
    const first = pageNumber(run, 'postings', 0)
    return this.#statements.deletePages.run(first, pageNumber(run + 1, 'postings', 0)).changes > 0
  }

  /** Returns the numbers with pages that belong to no run. */
  leftBehind(): number[] {
    const found: number[] = []
    for (let from = 0; ; ) {
      const page = this.#statements.firstPageFrom.get(from)
      if (page === undefined) return found
      const run = runOfPage(page)
      if (!this.#statements.hasRun.get(run)) found.push(run)
      from = pageNumber(run + 1, 'postings', 0)
    }
  }
}

/** Pages removed at once: a fraction of a millisecond. */
const PAGES_AT_ONCE = 64

function prepare(connection: Connection) {
  return {
    runs: connection.prepare<[], { run: number; last_seq: number }>(
      'SELECT run, last_seq FROM event_runs ORDER BY first_seq DESC',
    ),
    run: connection.prepare<[number], RunRow>('SELECT * FROM event_runs WHERE run = ?'),
    page: connection.prepare<[number], Uint8Array>('SELECT data FROM event_pages WHERE page = ?').pluck(),
    pages: connection
      .prepare<[number, number], Uint8Array>(
        'SELECT data FROM event_pages WHERE page >= ? AND page < ? ORDER BY page',
      )
      .pluck(),
  }
}

function prepareWrites(connection: Connection) {
  return {
    lastPage: connection
      .prepare<[], number>('SELECT page FROM event_pages ORDER BY page DESC LIMIT 1')
      .pluck(),
    lastRun: connection.prepare<[], number>('SELECT run FROM event_runs ORDER BY run DESC LIMIT 1').pluck(),
    hasRun: connection.prepare<[number]>('SELECT 1 FROM event_runs WHERE run = ?'),
    firstPageFrom: connection
      .prepare<[number], number>('SELECT page FROM event_pages WHERE page >= ? ORDER BY page LIMIT 1')
      .pluck(),
    insertPage: connection.prepare<[number, Buffer]>('INSERT INTO event_pages VALUES (?, ?)'),
    insertRun: connection.prepare(
      `INSERT INTO event_runs (run, level, first_seq, last_seq, greatest_at_ms, messages, postings, timeline)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    deleteRun: connection.prepare<[number]>('DELETE FROM event_runs WHERE run = ?'),
    deletePages: connection.prepare<[number, number]>(
      `DELETE FROM event_pages WHERE page IN (
        SELECT page FROM event_pages WHERE page >= ? AND page < ? ORDER BY page LIMIT ${PAGES_AT_ONCE})`,
    ),
  }
}
