import type { Storage } from '../storage/storage.ts'
import { latestViewsOfVariables, type StoredView } from '../storage/tables/views.ts'
import { Unavailable } from '../storage/unavailable.ts'
import { reportFilter } from './report-query.ts'
import { comparisonOf, filterOf } from './view-query.ts'

type Options = {
  storage: Pick<Storage, 'db' | 'standings'>
  /** Milliseconds since 1970. */
  now: () => number
  /** Called when a view, or if it is '' the list of views, could not be read. It is tried again later. */
  onFailure: (error: Error, viewId: string) => void
}

/** Which views are read: those that were changed last. Some of the sixteen variables that are kept remain for others. */
const VIEWS = { perWorkspace: 4, inAll: 12 }

/** Which share of the memory they may take. */
const ROOM = 0.9

/** Time from the end of one round to the next. What has changed since is all that a report then reads itself. */
const PAUSE_MS = 10 * 60_000

/** The same if the store was not available. */
const RETRY_MS = 30_000

/**
 * Reads the variables of events that saved views need, so that a view opens at once even after a start, and not only if
 * somebody has just asked for the same. It takes turns with the reports that people ask for.
 */
export class ViewsAhead {
  readonly #options: Options
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  /** Views for which there was no room, by when they were changed. */
  readonly #tooLarge = new Map<string, number>()
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
      const pause_ms = await this.#round().then(
        () => PAUSE_MS,
        (error) => {
          this.#report(error, '')
          return RETRY_MS
        },
      )
      await this.#pause(pause_ms)
    }
  }

  async #pause(pause_ms: number) {
    if (this.#closing.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause_ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Reads as many views as fit into the memory. @throws {Unavailable} */
  async #round() {
    const views = await latestViewsOfVariables(this.#options.storage.db, VIEWS)
    /** Shares of the memory, by what is kept there: several views may need the same. */
    const shares = new Map<string, number>()
    for (const view of views) {
      if (this.#closing.signal.aborted) return
      if (this.#tooLarge.get(view.view_id) === view.updated_ms) continue
      const needed = variablesOf(view)
      const others = [...shares].filter(([name]) => name !== needed)
      const room = others.reduce((room, [, share]) => room - share, ROOM)
      const share = await this.#read(view, room).catch((error) => {
        if (error instanceof Unavailable) throw error
        this.#report(error, view.view_id)
        return 0
      })
      shares.set(needed, share)
    }
  }

  /** @returns which share of the memory the view takes */
  async #read(view: StoredView, room: number): Promise<number> {
    const { workspace_id, view_id, journey_id, query, updated_ms } = view
    const { storage, now } = this.#options
    const reading = { caller: 'views', workspaceId: workspace_id, signal: this.#closing.signal }
    const filter = reportFilter({ ...filterOf(query, now()), ...comparisonOf(query, now()) })
    for (let after: string | null = null; ; ) {
      const ahead = { filter, after, room }
      const part = await storage.standings.readAhead(workspace_id, journey_id, ahead, reading)
      if (!part) return 0
      this.#enrolments += part.unread
      if (part.share === null) this.#tooLarge.set(view_id, updated_ms)
      if (part.next === null) return part.share ?? 0
      after = part.next
    }
  }

  #report(error: Error, viewId: string) {
    if (!this.#closing.signal.aborted) this.#options.onFailure(error, viewId)
  }
}

/** What a view needs of the variables of events: of the same, reports keep it once. */
function variablesOf({ journey_id, query: { breakdown, touch = 'first', variables } }: StoredView): string {
  return JSON.stringify([journey_id, breakdown, touch, variables])
}
