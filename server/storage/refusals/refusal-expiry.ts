import { keepsNone, oldestKept_ms, type RefusalLimits } from './refusal-bounds.ts'
import { idsOf, REMOVED_AT_ONCE } from './refusal-removal.ts'
import type { RefusalTable } from './refusal-table.ts'

/** Interval in which expired refusals are removed. They are hidden before. */
const SWEEP_MS = 3_600_000

type Options = {
  table: RefusalTable
  limits: RefusalLimits
  now: () => number
  onFailure: (error: Error) => void
}

/**
 * Removes refusals when their time has ended, from the start of the server on and whether or not others follow; all of them
 * if none are to be kept any more.
 */
export class RefusalExpiry {
  readonly #options: Options
  readonly #timer: NodeJS.Timeout
  #sweeping: Promise<void> | undefined
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
    this.#timer = setInterval(() => this.#begin(), SWEEP_MS).unref()
    this.#begin()
  }

  /** Ends after the rows that are being removed. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#sweeping
  }

  #begin() {
    this.#sweeping ??= this.#sweep()
      .catch(this.#options.onFailure)
      .finally(() => {
        this.#sweeping = undefined
      })
  }

  async #sweep() {
    const { table, limits, now } = this.#options
    const { compiler, run } = table
    const end_ms = keepsNone(limits) ? Number.MAX_SAFE_INTEGER : oldestKept_ms(limits, now())
    for (let from_ms = 0; !this.#isClosed && table.mayHaveRows(); ) {
      const expired = compiler
        .selectFrom('refusals')
        .select(['workspace_id', 'refusal_id', 'received_ms'])
        .where('received_ms', '>=', from_ms)
        .where('received_ms', '<', end_ms)
        .orderBy('received_ms')
        .limit(REMOVED_AT_ONCE)
      const [rows = []] = await run([expired.compile()])
      // Each in a statement of its workspace, which may be on another node.
      const removals = [...Map.groupBy(rows, ({ workspace_id }) => workspace_id)].map(([workspaceId, own]) =>
        compiler
          .deleteFrom('refusals')
          .where('workspace_id', '=', workspaceId)
          .where('refusal_id', 'in', idsOf(own))
          .compile(),
      )
      for (const removal of removals) await run([removal])
      if (rows.length < REMOVED_AT_ONCE) {
        if (from_ms > 0 || rows.length > 0) await table.truncateLog()
        return
      }
      from_ms = rows.at(-1)?.received_ms ?? from_ms
    }
  }
}
