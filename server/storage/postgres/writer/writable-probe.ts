import { type Pool, runOn } from '../connection/pool.ts'
import { firstUuidOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'

/**
 * Checks whether anything can be written. An updated row is written in place, even on a full disk: so once a group of
 * events has found no space, the probe requests space like events do, until there is some.
 */
export class WritableProbe {
  readonly #pool: Pool
  readonly #now: () => number
  #asksForRoom = false

  constructor(pool: Pool, now: () => number) {
    this.#pool = pool
    this.#now = now
  }

  /** Records that a write found no space on the disk. */
  noteFull(): void {
    this.#asksForRoom = true
  }

  /** @throws PostgreSQL's error for a refused write */
  async run(): Promise<void> {
    if (this.#asksForRoom) await this.#askForRoom()
    else await runOn(this.#pool, CHANGE)
    this.#asksForRoom = false
  }

  async #askForRoom() {
    await this.#pool.use(async (connection) => {
      await connection.begin()
      try {
        await connection.run(FILL, [firstUuidOf(this.#now())])
      } finally {
        await connection.run('ROLLBACK').catch(() => connection.close())
      }
    })
  }
}

/** Writes a row, which involves the server's disk and is refused by a standby. */
const CHANGE = `UPDATE cairn_store SET changes = changes FROM (SELECT ${DURABLE}) AS durable`

/** Requires new pages: more rows than fit on one, and a value that is stored out of line. */
const FILL = `
  INSERT INTO events (id, workspace_id, journey_id, customer_id, at_ms, is_dated, event_id, custom_variables)
  SELECT (left($1, 12) || right(md5(n::text), 20))::uuid, nobody, nobody, nobody, 0, false, '', left(digits, bytes)
  FROM unnest(ARRAY[1900, 1900, 1900, 1900, 1900, 9000]) WITH ORDINALITY AS rows (bytes, n),
    (SELECT string_agg(md5(n::text), '') AS digits FROM generate_series(1, 300) AS n),
    (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS nobody)`
