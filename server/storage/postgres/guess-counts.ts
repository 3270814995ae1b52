import {
  type CountName,
  FORGET_MS,
  type GuessCount,
  type GuessCounts,
  type OpenCounts,
} from '../guess-counts.ts'
import type { Connection } from './connection/connection.ts'
import { seenFromOutside } from './connection/outages.ts'
import type { Pool } from './connection/pool.ts'

/** Each change removes this many expired counts, so that they do not accumulate. */
const FORGOTTEN = 20

type Row = { counted_by: string; digest: string; failures: number; since_ms: number; until_ms: number }

/** Counts wrong guesses for all processes on the store. */
export class PostgresGuessCounts implements GuessCounts {
  readonly #pool: Pool
  readonly #now: () => number

  constructor({ pool, now }: { pool: Pool; now: () => number }) {
    this.#pool = pool
    this.#now = now
  }

  async change<Result>(names: readonly CountName[], change: (counts: OpenCounts) => Result): Promise<Result> {
    try {
      return await this.#pool.use(async (connection) => {
        await connection.run('BEGIN')
        try {
          const result = await this.#changeOn(connection, names, change)
          await connection.run('COMMIT')
          return result
        } catch (error) {
          await connection.run('ROLLBACK').catch(() => connection.close())
          throw error
        }
      })
    } catch (error) {
      throw seenFromOutside(error)
    }
  }

  async #changeOn<Result>(
    connection: Connection,
    names: readonly CountName[],
    change: (counts: OpenCounts) => Result,
  ): Promise<Result> {
    const { rows } = await connection.run<Row>(LOCK, [
      names.map(({ by }) => by),
      names.map(({ digest }) => digest),
      this.#now(),
    ])
    const counts = new Map(rows.map((row) => [textOf({ by: row.counted_by, digest: row.digest }), row]))
    const put = new Map<string, Row>()
    const result = change({
      get(name) {
        const row = put.get(textOf(name)) ?? counts.get(textOf(name))
        return row && row.failures > 0 ? countOf(row) : undefined
      },
      put({ by, digest }, count) {
        const { failures, since_ms, until_ms } = count ?? NOTHING
        put.set(textOf({ by, digest }), { counted_by: by, digest, failures, since_ms, until_ms })
      },
    })
    await connection.run(PUT, [JSON.stringify([...put.values()]), this.#now() - FORGET_MS])
    return result
  }
}

const NOTHING: GuessCount = { failures: 0, since_ms: 0, until_ms: 0 }

function textOf({ by, digest }: CountName): string {
  return `${by} ${digest}`
}

function countOf({ failures, since_ms, until_ms }: Row): GuessCount {
  return { failures, since_ms, until_ms }
}

/**
 * Locks the counts until the transaction ends, also those that do not exist yet, as rows without failures. In a fixed
 * order, so that two guesses never deadlock.
 */
const LOCK = `
  INSERT INTO wrong_guesses AS known (counted_by, digest, failures, since_ms, until_ms)
  SELECT counted_by, digest, 0, $3, 0 FROM unnest($1::text[], $2::text[]) AS names (counted_by, digest)
  ORDER BY counted_by COLLATE "C", digest COLLATE "C"
  ON CONFLICT (counted_by, digest) DO UPDATE SET failures = known.failures
  RETURNING counted_by, digest, failures, since_ms, until_ms`

/** Writes counts, and removes some expired ones. */
const PUT = `
  WITH put AS (
    SELECT * FROM json_to_recordset($1::json)
      AS put (counted_by text, digest text, failures integer, since_ms bigint, until_ms bigint)
  ), forgotten AS (
    DELETE FROM wrong_guesses WHERE (counted_by, digest) IN (
      SELECT counted_by, digest FROM wrong_guesses
      WHERE since_ms < $2 AND (counted_by, digest) NOT IN (SELECT counted_by, digest FROM put)
      ORDER BY since_ms LIMIT ${FORGOTTEN} FOR UPDATE SKIP LOCKED
    )
  )
  UPDATE wrong_guesses SET failures = put.failures, since_ms = put.since_ms, until_ms = put.until_ms
  FROM put WHERE wrong_guesses.counted_by = put.counted_by AND wrong_guesses.digest = put.digest`
