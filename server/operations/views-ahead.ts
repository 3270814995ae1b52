import type { Storage } from '../storage/storage.ts'
import { latestViewsOfVariables, type StoredView } from '../storage/tables/views.ts'
import { reportFilter } from './reports.ts'
import { comparisonOf, filterOf } from './view-query.ts'

type Options = {
  storage: Pick<Storage, 'db' | 'standings'>
  /** Milliseconds since 1970. */
  now: () => number
  /** Called when a view could not be read. It is read again in the next round. */
  onFailure: (error: Error, viewId: string) => void
}

/** How many views are read, those that were changed last: reports keep the variables of as many. */
const VIEWS = 16

/** Time from the end of one round to the next. What has changed since is all that a report then reads itself. */
const PAUSE_MS = 10 * 60_000

/**
 * Reads the variables of events that saved views need, so that a view opens at once even after a start, and not only if
 * somebody has just asked for the same. It waits behind the reports that people ask for.
 */
export class ViewsAhead {
  readonly #options: Options
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #enrolments = 0
  #wake = () => {}

  constructor(options: Options) {
    this.#options = options
    this.#ended = this.#run()
  }

  /** How many enrolments it has read the event of. */
  get enrolments(): number {
    return this.#enrolments
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake()
    await this.#ended
  }

  async #run() {
    while (!this.#closing.signal.aborted) {
      await this.#round().catch((error) => this.#report(error, ''))
      await this.#pause()
    }
  }

  async #pause() {
    if (this.#closing.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Reads as many views as fit into the memory. */
  async #round() {
    const views = await latestViewsOfVariables(this.#options.storage.db, VIEWS)
    let room = 1
    for (const view of views) {
      if (this.#closing.signal.aborted) return
      room -= await this.#read(view, room).catch((error) => this.#report(error, view.view_id))
      if (room <= 0) return
    }
  }

  /** @returns which share of the memory the view takes */
  async #read({ workspace_id, journey_id, query }: StoredView, room: number): Promise<number> {
    const { storage, now } = this.#options
    const reading = { caller: 'views', workspaceId: workspace_id, signal: this.#closing.signal }
    const filter = reportFilter({ ...filterOf(query, now()), ...comparisonOf(query, now()) })
    for (let after: string | null = null; ; ) {
      const ahead = { filter, after }
      const part = await storage.standings.readAhead(workspace_id, journey_id, ahead, reading)
      if (!part) return 0
      this.#enrolments += part.unread
      if (part.next === null || part.share >= room) return part.share
      after = part.next
    }
  }

  #report(error: Error, viewId: string): number {
    if (!this.#closing.signal.aborted) this.#options.onFailure(error, viewId)
    return 0
  }
}
