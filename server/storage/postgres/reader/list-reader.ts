import { JsonBytes } from '../../../domain/json-bytes.ts'
import { pageText } from '../../../domain/paging.ts'
import type { Reading } from '../../database.ts'
import type { EventTexts, ForwardTexts } from '../../events/event-json.ts'
import { ListQueue } from '../../lists/list-queue.ts'
import type { ListReads } from '../../storage.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Connection } from '../connection/connection.ts'
import { outward } from '../connection/outages.ts'
import { type Pool, readOn } from '../connection/pool.ts'

/** Reads lists on separate connections, through a fair queue. A read that nobody waits for any more is cancelled. */
export class ListReader {
  readonly #pool: Pool
  readonly #listQueue: ListQueue

  /** @param readers the number of connections of the pool */
  constructor(pool: Pool, readers: number) {
    this.#pool = pool
    this.#listQueue = new ListQueue(readers)
  }

  statistics(): ListReads {
    return this.#listQueue.statistics()
  }

  /** Reads rows of a list, see `ListQueue`. */
  async rows(sql: string, parameters: readonly unknown[], reading: Reading): Promise<unknown[]> {
    return await this.read(reading, async (connection) => (await connection.run(sql, parameters)).rows)
  }

  /** Runs several statements on a connection of their own, see `ListQueue`. */
  async read<Result>(reading: Reading, read: (connection: Connection) => Promise<Result>): Promise<Result> {
    return await outward(this.#listQueue.take(reading, (signal) => readOn(this.#pool, signal, read)))
  }

  /** Reads a page of events, as the JSON of the contract's `EventPage`. */
  async events<Value>(
    reading: Reading,
    read: (connection: Connection) => Promise<EventTexts | ForwardTexts>,
  ): Promise<JsonBytes<Value>> {
    const texts = await this.read(reading, read)
    return new JsonBytes<Value>(new TextEncoder().encode(pageText(texts)))
  }

  /** Refuses waiting and new reads; reads in progress continue. */
  async close(): Promise<void> {
    this.#listQueue.close(new Unavailable('shutting_down'))
    await this.#pool.close()
  }
}
