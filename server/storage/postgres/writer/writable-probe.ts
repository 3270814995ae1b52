import { type Pool, runOn } from '../connection/pool.ts'
import { firstUuidOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'

/**
 * Finds out whether anything can be written. A row that is changed is written where it stands, also on a disk that is full:
 * once a group of events has found no room, the probe asks for room as events do, until there is some.
 */
export class WritableProbe {
  readonly #pool: Pool
  readonly #now: () => number
  #asksForRoom = false

  constructor(pool: Pool, now: () => number) {
    this.#pool = pool
    this.#now = now
  }

  /** Something found no room on the disk. */
  noteFull(): void {
    this.#asksForRoom = true
  }

  /** @throws what PostgreSQL refuses a write with */
  async run(): Promise<void> {
    if (this.#asksForRoom) await this.#askForRoom()
    else await runOn(this.#pool, CHANGE)
    this.#asksForRoom = false
  }

  async #askForRoom() {
    await this.#pool.use(async (connection) => {
      await connection.run('BEGIN')
      try {
        await connection.run(FILL, [firstUuidOf(this.#now())])
      } finally {
        await connection.run('ROLLBACK')
      }
    })
  }
}

/** Writes a row, so that the server and its disk are asked, and a standby refuses. */
const CHANGE = `UPDATE cairn_store SET changes = changes FROM (SELECT ${DURABLE}) AS durable`

/** Needs pages that nothing stands on: as many rows as do not fit on one, and a value that stands beside its row. */
const FILL = `
  INSERT INTO events (id, workspace_id, journey_id, customer_id, at_ms, is_dated, event_id, custom_variables)
  SELECT (left($1, 12) || right(md5(n::text), 20))::uuid, nobody, nobody, nobody, 0, false, '', left(digits, bytes)
  FROM unnest(ARRAY[1900, 1900, 1900, 1900, 1900, 9000]) WITH ORDINALITY AS rows (bytes, n),
    (SELECT string_agg(md5(n::text), '') AS digits FROM generate_series(1, 300) AS n),
    (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS nobody)`
