import type { Connection } from '../connection/connection.ts'
import { DURABLE } from '../dialect.ts'

type CustomerRow = { customer_id: string; change: 'made' | 'renamed' | 'none' }
type WordRow = { customer_id: string; is_new: boolean }
type EnrolmentRow = { journey_id: string; customer_id: string; customer_type: string }

export type CustomerSteps = {
  workspace_id: string
  now_ms: number
  customers: readonly CustomerRow[]
  words: readonly WordRow[]
  enrolments: readonly EnrolmentRow[]
  /** A new UUID. */
  arrival: string
  /** The number of the workspace's erasures with which the plans were made. */
  erasures: number
}

/**
 * Applies plans with the outcome of `WRITE` of the customer writer, but in a transaction of several statements: on Citus for
 * the reason told at `insertInSteps`, and after a lost connection, because the later ones see an erasure that an earlier one
 * waited for.
 * @returns the number of plans that were applied
 */
export async function writeCustomersInSteps(connection: Connection, steps: CustomerSteps): Promise<number> {
  const { workspace_id, now_ms, customers, arrival, erasures } = steps
  await connection.begin({ first: `SELECT ${DURABLE}` })
  try {
    const ids = async (sql: string, rows: readonly unknown[], ...others: unknown[]) => {
      if (rows.length === 0) return []
      const parameters = [workspace_id, JSON.stringify(rows), ...others]
      return (await connection.run<EnrolmentRow>(sql, parameters)).rows
    }
    const of = (change: CustomerRow['change']) => customers.filter((row) => row.change === change)
    const made = new Set((await ids(MAKE, of('made'), now_ms)).map(({ customer_id }) => customer_id))
    if (made.size > 0) {
      const [workspace] = (await connection.run<{ erasures: number }>(ERASURES, [workspace_id])).rows
      // Somebody who is created here may have been erased.
      if (workspace?.erasures !== erasures) {
        await connection.run('ROLLBACK')
        return 0
      }
    }
    const renamed = await ids(RENAME, of('renamed'), now_ms)
    const done = new Set([...made, ...[...renamed, ...of('none')].map(({ customer_id }) => customer_id)])
    const isDone = ({ customer_id }: { customer_id: string }) => done.has(customer_id)
    const words = steps.words.filter(isDone)
    const added = words.filter(({ is_new }) => is_new)
    await ids(ADD_WORDS, added)
    const removed = words.filter(({ is_new }) => !is_new)
    await ids(REMOVE_WORDS, removed)
    const entering = steps.enrolments.filter(isDone)
    const enrolled = await ids(ENROL, entering, now_ms)
    if (enrolled.length > 0) {
      const types = new Map(entering.map(({ customer_id, customer_type }) => [customer_id, customer_type]))
      const arrived = enrolled.map(({ journey_id, customer_id }) => ({
        journey_id,
        customer_id,
        customer_type: types.get(customer_id),
        enrolled_ms: now_ms,
        made: made.has(customer_id),
      }))
      await connection.run(ARRIVE, [workspace_id, arrival, JSON.stringify(arrived)])
    }
    await connection.run('COMMIT')
    return done.size
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => connection.close())
    throw error
  }
}

const CUSTOMER_COLUMNS =
  'customer_id text, customer_type text, client_customer_id text, customer_name text, name_key text, name_before text'

const MAKE = `
  INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name, name_key,
    created_ms, updated_ms)
  SELECT $1, customer_id, customer_type, client_customer_id, customer_name, name_key, $3::bigint, $3::bigint
  FROM json_to_recordset($2::json) AS planned (${CUSTOMER_COLUMNS}) ORDER BY customer_type, client_customer_id
  ON CONFLICT DO NOTHING RETURNING customer_id`

const ERASURES = 'SELECT erasures FROM workspaces WHERE workspace_id = $1'

const RENAME = `
  UPDATE customers
  SET customer_name = planned.customer_name, name_key = planned.name_key, updated_ms = $3::bigint
  FROM json_to_recordset($2::json) AS planned (${CUSTOMER_COLUMNS})
  WHERE customers.workspace_id = $1 AND customers.customer_id = planned.customer_id
    AND customers.customer_name = name_before
  RETURNING customers.customer_id`

const WORD_COLUMNS = 'customer_id text, word text, created_ms bigint'

const ADD_WORDS = `
  INSERT INTO customer_words (workspace_id, word, created_ms, customer_id)
  SELECT $1, word, created_ms, customer_id FROM json_to_recordset($2::json) AS words (${WORD_COLUMNS})
  ON CONFLICT DO NOTHING`

const REMOVE_WORDS = `
  DELETE FROM customer_words USING json_to_recordset($2::json) AS words (${WORD_COLUMNS})
  WHERE customer_words.workspace_id = $1 AND customer_words.word = words.word
    AND customer_words.created_ms = words.created_ms AND customer_words.customer_id = words.customer_id`

const ENROL = `
  INSERT INTO enrolments (workspace_id, journey_id, customer_id, enrolled_ms)
  SELECT $1, journey_id, customer_id, $3::bigint
  FROM json_to_recordset($2::json) AS entering (journey_id text, customer_id text)
  ORDER BY journey_id, customer_id ON CONFLICT DO NOTHING RETURNING journey_id, customer_id`

const ARRIVE = 'INSERT INTO enrolment_arrivals (workspace_id, arrival, enrolments) VALUES ($1, $2, $3)'
