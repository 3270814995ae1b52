import { RefusalExpiry } from './refusal-expiry.ts'
import { RefusalReader } from './refusal-reader.ts'
import { removeRefusalsAbout, removeRefusalsOf } from './refusal-removal.ts'
import { type RefusalStatistics, RefusalWriter, type RefusalWriterOptions } from './refusal-writer.ts'

export type RefusalsOptions = RefusalWriterOptions & { now: () => number }

/** What requests use of refusals. */
export type RefusalStore = Pick<Refusals, 'offer' | 'list' | 'summary' | 'find' | 'noteReplays'>

/**
 * The refusals of all workspaces. Offering one never waits and never fails: it is written in the background, in groups,
 * or left out if there are too many, in which case it is counted on those that are kept.
 */
export class Refusals {
  readonly #options: RefusalsOptions
  readonly #writer: RefusalWriter
  readonly #reader: RefusalReader
  readonly #expiry: RefusalExpiry

  constructor(options: RefusalsOptions) {
    this.#options = options
    this.#writer = new RefusalWriter(options)
    this.#reader = new RefusalReader(options)
    this.#expiry = new RefusalExpiry(options)
  }

  offer(...offered: Parameters<RefusalWriter['offer']>): void {
    this.#writer.offer(...offered)
  }

  async list(...asked: Parameters<RefusalReader['list']>): ReturnType<RefusalReader['list']> {
    await this.#writer.catchUp()
    return await this.#reader.list(...asked)
  }

  async summary(...asked: Parameters<RefusalReader['summary']>): ReturnType<RefusalReader['summary']> {
    await this.#writer.catchUp()
    return await this.#reader.summary(...asked)
  }

  async find(...asked: Parameters<RefusalReader['find']>): ReturnType<RefusalReader['find']> {
    await this.#writer.catchUp()
    return await this.#reader.find(...asked)
  }

  /** Records the outcomes of replays. @param replays each as JSON */
  async noteReplays(
    workspaceId: string,
    replayed_ms: number,
    replays: readonly { refusal_id: string; replay: string }[],
  ): Promise<void> {
    const { compiler, run } = this.#options.table
    const statements = replays.map(({ refusal_id, replay }) =>
      compiler
        .updateTable('refusals')
        .set({ replayed_ms, replay })
        .where('workspace_id', '=', workspaceId)
        .where('refusal_id', '=', refusal_id)
        .compile(),
    )
    // The events are stored, whether or not it can be recorded here.
    await run(statements).catch(this.#options.onFailure)
  }

  /** Removes everything about a customer. @returns false if it is still in a log; try again */
  async removeOf(
    workspaceId: string,
    { customer_id, client_customer_id }: { customer_id: string; client_customer_id: string },
  ): Promise<boolean> {
    await this.#writer.flush()
    const names = { id: customer_id, own: client_customer_id }
    return await removeRefusalsAbout(this.#options.table, workspaceId, { names, subject: 'customer_id' })
  }

  /** Removes everything about a journey. @returns false if it is still in a log; try again */
  async removeOfJourney(workspaceId: string, journeyId: string): Promise<boolean> {
    await this.#writer.flush()
    const names = { id: journeyId }
    return await removeRefusalsAbout(this.#options.table, workspaceId, { names, subject: 'journey_id' })
  }

  /** Removes everything of a workspace. @returns false if it is still in a log; try again */
  async removeOfWorkspace(workspaceId: string): Promise<boolean> {
    await this.#writer.flush()
    await removeRefusalsOf(this.#options.table, workspaceId)
    return await this.#options.table.truncateLog()
  }

  statistics(): RefusalStatistics {
    return this.#writer.statistics()
  }

  /** Writes what waits, and accepts no more. */
  async close(): Promise<void> {
    await this.#writer.close()
    await this.#expiry.close()
    await this.#options.table.close()
  }
}
