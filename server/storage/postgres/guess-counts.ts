import { type CountName, FORGET_MS, type GuessCount, type GuessCounts } from '../guess-counts.ts'
import type { Pool } from './connection/pool.ts'
import { transactOn } from './transact-on.ts'

/** Each change removes this many expired counts, so that they do not accumulate. */
const FORGOTTEN = 20

/** Counts wrong guesses for all processes on the store. */
export class PostgresGuessCounts implements GuessCounts {
  readonly #pool: Pool
  readonly #now: () => number

  constructor({ pool, now }: { pool: Pool; now: () => number }) {
    this.#pool = pool
    this.#now = now
  }

  async change<Result>(
    names: readonly CountName[],
    change: (counts: GuessCount[]) => Result,
  ): Promise<Result> {
    const now_ms = this.#now()
    const counted = [names.map(({ by }) => by), names.map(({ digest }) => digest)]
    return await transactOn(this.#pool, async (connection) => {
      await connection.run(WAIT, counted)
      const { rows: counts } = await connection.run<GuessCount>(LOCK, [...counted, now_ms])
      const result = change(counts)
      await connection.run(PUT, [JSON.stringify(counts), now_ms - FORGET_MS])
      return result
    })
  }
}

/**
 * Waits for other guesses that change the same counts. Citus locks rows on every node by itself, where two guesses would wait
 * for each other.
 */
const WAIT = `
  SELECT pg_advisory_xact_lock(name) FROM (
    SELECT DISTINCT hashtextextended(counted_by || ' ' || digest, 0) AS name
    FROM unnest($1::text[], $2::text[]) AS names (counted_by, digest) ORDER BY name
  ) AS ordered`

/**
 * Locks the counts until the transaction ends, also those that do not exist yet, as rows without failures. In a fixed
 * order, so that two guesses never deadlock.
 */
const LOCK = `
  INSERT INTO wrong_guesses AS known (counted_by, digest, failures, since_ms, until_ms)
  SELECT counted_by, digest, 0, $3, 0 FROM unnest($1::text[], $2::text[]) AS names (counted_by, digest)
  ORDER BY counted_by COLLATE "C", digest COLLATE "C"
  ON CONFLICT (counted_by, digest) DO UPDATE SET failures = known.failures
  RETURNING counted_by AS by, digest, failures, since_ms, until_ms`

/** Writes counts, and removes some expired ones. */
const PUT = `
  WITH put AS (
    SELECT * FROM json_to_recordset($1::json)
      AS put (by text, digest text, failures integer, since_ms bigint, until_ms bigint)
  ), forgotten AS (
    DELETE FROM wrong_guesses WHERE (counted_by, digest) IN (
      SELECT counted_by, digest FROM wrong_guesses
      WHERE since_ms < $2 AND (counted_by, digest) NOT IN (SELECT by, digest FROM put)
      ORDER BY since_ms LIMIT ${FORGOTTEN} FOR UPDATE SKIP LOCKED
    )
  )
  UPDATE wrong_guesses SET failures = put.failures, since_ms = put.since_ms, until_ms = put.until_ms
  FROM put WHERE wrong_guesses.counted_by = put.by AND wrong_guesses.digest = put.digest`
