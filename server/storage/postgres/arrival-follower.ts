import type { Arrival } from './arrivals.ts'
import type { Connection } from './connection.ts'
import { foldCounts } from './fold-counts.ts'
import type { Pool } from './pool.ts'

/** How often is looked whether something has arrived. */
const LOOK_MS = 250

/** So many arrivals are taken in one transaction: each is a group of up to 1,000 events. */
const TAKEN = 200

type FollowerOptions = {
  pool: Pool
  /** Called when what has arrived could not be taken. Nothing is lost; it is tried again. */
  onFailure: (error: Error) => void
}

/**
 * Takes what has arrived out of its queue and adds it to the counts, a slice of one workspace in a transaction. Every
 * process does so; whoever holds the workspace's row goes on, and the others leave it alone. Neither clocks nor the order
 * of commits matter: what is committed is seen, and what is seen is taken once.
 */
export class ArrivalFollower {
  readonly #options: FollowerOptions
  readonly #timer: NodeJS.Timeout
  #following: Promise<void> | undefined
  #hasEnded = false

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    clearInterval(this.#timer)
    await this.#following
  }

  #look() {
    this.#following ??= this.#follow()
      .catch((error) => this.#options.onFailure(error))
      .finally(() => {
        this.#following = undefined
      })
  }

  async #follow() {
    const { pool } = this.#options
    const found = await pool.read<{ workspace_id: string }>(
      'SELECT DISTINCT workspace_id FROM event_arrivals',
      [],
    )
    for (const { workspace_id } of found) {
      let taken = TAKEN
      while (taken === TAKEN && !this.#hasEnded)
        taken = await pool.use((on) => this.#takeSlice(on, workspace_id))
    }
  }

  /** @returns how many arrivals there were in it */
  async #takeSlice(connection: Connection, workspace: string): Promise<number> {
    // Both the counts and what they are made of are in one transaction: none is lost where the commit is.
    await connection.run('BEGIN; SET LOCAL synchronous_commit = off')
    try {
      const taken = await takeSlice(connection, workspace)
      await connection.run('COMMIT')
      return taken
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => connection.close())
      throw error
    }
  }
}

async function takeSlice(connection: Connection, workspace: string): Promise<number> {
  const lock = await connection.run(
    'SELECT FROM event_following WHERE workspace_id = $1 FOR UPDATE SKIP LOCKED',
    [workspace],
  )
  if (lock.changes === 0) {
    // Either another process has it, or nobody had it ever; then it is for the next look.
    await connection.run('INSERT INTO event_following VALUES ($1) ON CONFLICT DO NOTHING', [workspace])
    return 0
  }
  const { rows } = await connection.run<Arrival>(TAKE, [workspace, TAKEN])
  await foldCounts(connection, workspace, rows)
  return rows.length
}

const TAKE = `
  WITH taken AS (
    DELETE FROM event_arrivals WHERE workspace_id = $1 AND arrival = ANY(ARRAY(
      SELECT arrival FROM event_arrivals WHERE workspace_id = $1 ORDER BY arrival LIMIT $2
    )) RETURNING arrival, minute_ms, first_event, last_event, counts, taken
  )
  SELECT * FROM taken ORDER BY arrival`
