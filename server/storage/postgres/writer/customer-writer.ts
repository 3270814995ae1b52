import type { components } from '../../../../generated/contract.ts'
import { ascendingIds, newId, newIdBetween, unmadeId } from '../../../domain/identifiers.ts'
import { indexedBeginning, nameWords, wordsOfText, wordsText } from '../../../domain/name-words.ts'
import { ownDigest } from '../../../domain/own-digest.ts'
import type { Discretion, InitializeOutcome } from '../../events/event-store.ts'
import { brokenInitializeRule } from '../../events/ingestion-rules.ts'
import { ConnectionLost, isOrphaned } from '../connection/outages.ts'
import type { Pool } from '../connection/pool.ts'
import { untilKnown } from '../connection/until-known.ts'
import { uuidText } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { GroupUnavailable } from './group-unavailable.ts'
import { writeCustomersInSteps } from './write-customers-in-steps.ts'

export type Initialization = components['schemas']['CustomerInitialization'] & {
  discretion?: Discretion | undefined
}

type CustomerWriterOptions = {
  pool: Pool
  now: () => number
  /** Whether the tables are distributed over the nodes of Citus. */
  isDistributed: boolean
}

/** What is stored of a customer. */
type Known = {
  customer_id: string
  customer_type: string
  client_customer_id: string
  customer_name: string
  name_key: string
  created_ms: number
  /** Those of the group's journeys in which it is enrolled. */
  enrolled: string[]
}

/** What the calls of a group mean for one customer. */
type Plan = Pick<Initialization, 'customer_type' | 'client_customer_id' | 'customer_name'> & {
  known: Known | undefined
  /** The stored one, or the one with which it will be created. */
  customer_id: string
  /** The journeys in which it is to be enrolled. */
  journeys: Set<string>
}

/** Maximum workspaces whose secrets are cached. */
const KNOWN_SECRETS = 10_000

/** Maximum attempts: another replica may create or rename a customer each time. */
const ROUNDS = 20

/** Registers customers, those of one workspace at a time, each group in one transaction. */
export class CustomerWriter {
  readonly #options: CustomerWriterOptions
  readonly #nextId = ascendingIds()
  /** The secrets for digests, by workspace; they never change. */
  readonly #secrets = new Map<string, string>()

  constructor(options: CustomerWriterOptions) {
    this.#options = options
  }

  /**
   * Creates or finds each customer, updates its name, and enrols it in the journey.
   *
   * The changes are planned from what is stored, and applied only if that is still the same (optimistic concurrency
   * control). Otherwise, because another replica was first, or this one was on a connection that was lost, or a customer
   * was erased, they are planned again. The identifier of a customer shows who created it.
   */
  async initialize(workspace_id: string, calls: readonly Initialization[]): Promise<InitializeOutcome[]> {
    const newIds = new Map<string, string>()
    const ownIds = new Set<string>()
    const entering = new Set<string>()
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { statuses, known, erased, erasures } = await this.#look(workspace_id, calls)
      // One of an earlier round may have been created, and erased since: it is not used again.
      for (const [key, id] of this.#newIds(calls)) if (!known.has(key)) newIds.set(key, id)
      for (const id of newIds.values()) ownIds.add(id)
      const plans = plansOf(calls, { statuses, known, erased, newIds })
      const due = [...plans.values()].filter(isDue)
      // One of an earlier round may have been stored without this server knowing.
      for (const { customer_id, journeys } of due) {
        for (const journey_id of journeys) entering.add(`${customer_id} ${journey_id}`)
      }
      // What was read is committed already.
      const done = due.length === 0 ? 0 : await this.#write(workspace_id, due, erasures)
      if (done === due.length) return outcomesOf(calls, { statuses, known, erased, plans, ownIds, entering })
    }
    // Erasures, or other servers, have changed customers during every attempt.
    throw new GroupUnavailable('overloaded')
  }

  /** Returns the identifier for each customer in case it is created. */
  #newIds(calls: readonly Initialization[]): Map<string, string> {
    const now_ms = this.#options.now()
    const ids = new Map<string, string>()
    for (const call of calls) {
      const { discretion } = call
      // The first call for a customer creates it.
      if (ids.has(keyOf(call))) continue
      ids.set(keyOf(call), discretion ? newIdBetween('cus', discretion.since_ms, now_ms) : newId('cus'))
    }
    return ids
  }

  /**
   * Returns what `initialize` would answer to each call now if it were the only one; with discretion the same for every
   * customer.
   */
  async check(workspace_id: string, calls: readonly Initialization[]): Promise<InitializeOutcome[]> {
    const { statuses, known, erased } = await this.#look(workspace_id, calls)
    return calls.map((call) => {
      if (call.discretion) {
        const journeyStatus = statuses.get(call.journey_id)
        const code = brokenInitializeRule({ journeyStatus, isErased: () => false, isDiscreet: true })
        return code
          ? { status: 'refused', code }
          : { status: 'stored', customer_id: unmadeId('cus'), created: false, enrolled: false }
      }
      const code = brokenRule(call, { statuses, known, erased })
      if (code) return { status: 'refused', code }
      const { customer_id, enrolled = [] } = known.get(keyOf(call)) ?? {}
      return {
        status: 'stored',
        customer_id: customer_id ?? unmadeId('cus'),
        created: customer_id === undefined,
        enrolled: !enrolled.includes(call.journey_id),
      }
    })
  }

  async #look(workspace_id: string, calls: readonly Initialization[]) {
    const asked = [...new Map(calls.map((call) => [keyOf(call), call])).values()]
    const secret = await this.#secretOf(workspace_id)
    const found = await this.#options.pool.read<
      Known & Record<'journey_id' | 'status', string | null> & Record<'erased' | 'erasures', number | null>
    >(LOOK, [
      workspace_id,
      [...new Set(calls.map(({ journey_id }) => journey_id))],
      asked.map(({ customer_type }) => customer_type),
      asked.map(({ client_customer_id }) => client_customer_id),
      asked.map((call) => ownDigest(secret, call)),
    ])
    const statuses = new Map<string, string>()
    const known = new Map<string, Known>()
    const erased = new Set<string>()
    let erasures = 0
    for (const row of found) {
      const own = row.erased === null ? undefined : asked[row.erased - 1]
      if (row.erasures !== null) erasures = row.erasures
      else if (own) erased.add(keyOf(own))
      else if (row.journey_id === null) known.set(keyOf(row), row)
      else statuses.set(row.journey_id, row.status ?? '')
    }
    return { statuses, known, erased, erasures }
  }

  async #secretOf(workspace_id: string): Promise<string> {
    const known = this.#secrets.get(workspace_id)
    if (known !== undefined) return known
    const [workspace] = await this.#options.pool.read<{ erasure_secret: string }>(
      'SELECT erasure_secret FROM workspaces WHERE workspace_id = $1',
      [workspace_id],
    )
    const secret = workspace?.erasure_secret ?? ''
    if (this.#secrets.size >= KNOWN_SECRETS) this.#secrets.clear()
    if (workspace) this.#secrets.set(workspace_id, secret)
    return secret
  }

  /**
   * @param erasures the number of the workspace's erasures with which the plans were made
   * @returns the number of plans that were applied
   */
  async #write(workspace_id: string, plans: readonly Plan[], erasures: number): Promise<number> {
    const now_ms = this.#options.now()
    const words = plans.map((plan) => (changeOf(plan) === 'none' ? [] : nameWords(plan.customer_name)))
    const steps = {
      workspace_id,
      now_ms,
      customers: plans.map((plan, index) => customerRow(plan, words[index] ?? [])),
      words: plans.flatMap((plan, index) => wordRows(plan, words[index] ?? [], now_ms)),
      enrolments: plans.flatMap(enrolmentRows),
      arrival: uuidText(this.#nextId(now_ms)),
      erasures,
    }
    const { customers, enrolments, arrival } = steps
    const lists = [customers, steps.words, enrolments].map((rows) => JSON.stringify(rows))
    const parameters = [workspace_id, now_ms, ...lists, arrival, erasures]
    try {
      return await untilKnown(this.#options.pool, async (connection, mayBeDone) => {
        // What may have been created before is looked for between the statements.
        if (this.#options.isDistributed || mayBeDone) return await writeCustomersInSteps(connection, steps)
        return (await connection.run(WRITE, parameters)).rows.length
      })
    } catch (error) {
      // A customer was erased in the meantime: nothing was written, and it is planned again.
      if (isOrphaned(error instanceof ConnectionLost ? error.cause : error)) return 0
      throw error
    }
  }
}

type Found = {
  statuses: Map<string, string>
  known: Map<string, Known>
  erased: ReadonlySet<string>
  newIds: Map<string, string>
}

function brokenRule(call: Initialization, { statuses, known, erased }: Omit<Found, 'newIds'>) {
  const key = keyOf(call)
  return brokenInitializeRule({
    journeyStatus: statuses.get(call.journey_id),
    isErased: () => !known.has(key) && erased.has(key),
    isDiscreet: call.discretion !== undefined,
  })
}

/** Plans the calls that are not refused, by customer. */
function plansOf(calls: readonly Initialization[], found: Found): Map<string, Plan> {
  const plans = new Map<string, Plan>()
  for (const call of calls) {
    if (brokenRule(call, found)) continue
    const { journey_id, discretion, ...names } = call
    const key = keyOf(call)
    const known = found.known.get(key)
    const customer_id = known?.customer_id ?? found.newIds.get(key) ?? ''
    const customer_name = known?.customer_name ?? call.customer_name
    const plan = plans.get(key) ?? { ...names, customer_name, known, customer_id, journeys: new Set() }
    // The last of several names wins.
    if (!discretion) plan.customer_name = call.customer_name
    if (!known?.enrolled.includes(journey_id)) plan.journeys.add(journey_id)
    plans.set(key, plan)
  }
  return plans
}

function isDue(plan: Plan): boolean {
  return changeOf(plan) !== 'none' || plan.journeys.size > 0
}

function changeOf({ known, customer_name }: Plan): 'made' | 'renamed' | 'none' {
  if (!known) return 'made'
  return known.customer_name === customer_name ? 'none' : 'renamed'
}

function outcomesOf(
  calls: readonly Initialization[],
  {
    plans,
    ownIds,
    entering,
    ...found
  }: Omit<Found, 'newIds'> & {
    plans: Map<string, Plan>
    ownIds: ReadonlySet<string>
    entering: ReadonlySet<string>
  },
): InitializeOutcome[] {
  const reported = new Set<string>()
  return calls.map((call) => {
    const code = brokenRule(call, found)
    if (code) return { status: 'refused', code }
    const plan = plans.get(keyOf(call))
    if (!plan) throw new Error('an initialization that breaks no rule was not planned')
    const { customer_id } = plan
    // Of several calls that would create it, the first one did.
    const created = ownIds.has(customer_id) && !reported.has(customer_id)
    reported.add(customer_id)
    const enrolment = `${customer_id} ${call.journey_id}`
    const enrolled = entering.has(enrolment) && !reported.has(enrolment)
    reported.add(enrolment)
    return { status: 'stored', customer_id, created, enrolled }
  })
}

function keyOf({
  customer_type,
  client_customer_id,
}: Pick<Known, 'customer_type' | 'client_customer_id'>): string {
  return `${customer_type} ${client_customer_id}`
}

function customerRow(plan: Plan, words: string[]) {
  const { customer_id, customer_type, client_customer_id, customer_name, known } = plan
  const names = { customer_type, client_customer_id, customer_name, name_key: wordsText(words) }
  return { customer_id, ...names, change: changeOf(plan), name_before: known?.customer_name ?? null }
}

/**
 * Returns the words to add to and remove from the index of names.
 * @param words of the name if it is new
 */
function wordRows(plan: Plan, words: string[], now_ms: number) {
  const { known, customer_id } = plan
  if (changeOf(plan) === 'none') return []
  // The index contains the words that are stored: another version of Unicode may find others in the same name.
  const before = new Set(known ? wordsOfText(known.name_key).map(indexedBeginning) : [])
  const after = new Set(words.map(indexedBeginning))
  const row = { customer_id, created_ms: known?.created_ms ?? now_ms }
  return [
    ...[...after].filter((word) => !before.has(word)).map((word) => ({ ...row, word, is_new: true })),
    ...[...before].filter((word) => !after.has(word)).map((word) => ({ ...row, word, is_new: false })),
  ]
}

function enrolmentRows({ journeys, customer_id, customer_type }: Plan) {
  return [...journeys].map((journey_id) => ({ journey_id, customer_id, customer_type }))
}

/** Whether a journey accepts events: none of an archived workspace does. The workspace is the first parameter. */
export const JOURNEY_STATUS = `
  CASE WHEN EXISTS (SELECT 1 FROM workspaces WHERE workspace_id = $1 AND archived_ms IS NOT NULL)
    THEN 'archived' ELSE status END AS status`

/**
 * Looks up journeys and customers. Each customer is looked up by the key, whatever the planner assumes about their
 * number. For tables that were never analyzed it assumes that every index finds one row; the type, with which another
 * index starts, is hidden from it.
 */
const LOOK = `
  SELECT journey_id, ${JOURNEY_STATUS}, NULL AS customer_id, NULL AS customer_type, NULL AS client_customer_id,
    NULL AS customer_name, NULL AS name_key, NULL::bigint AS created_ms, NULL::text[] AS enrolled, NULL::int AS erased,
    NULL::bigint AS erasures
  FROM journeys WHERE workspace_id = $1 AND journey_id = ANY($2::text[]) AND removed_ms IS NULL
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, erasures FROM workspaces WHERE workspace_id = $1
  UNION ALL
  SELECT NULL, NULL, customer_id, customer_type, client_customer_id, customer_name, name_key, created_ms, ARRAY(
    SELECT enrolments.journey_id FROM enrolments
    WHERE workspace_id = $1 AND enrolments.journey_id = ANY($2::text[])
      AND enrolments.customer_id = customer.customer_id
  ), NULL, NULL
  FROM unnest($3::text[], $4::text[]) AS asked (type, own_id) CROSS JOIN LATERAL (
    SELECT * FROM customers
    WHERE workspace_id = $1 AND client_customer_id = own_id AND customer_type || '' = type LIMIT 1
  ) AS customer
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, place::int, NULL
  FROM unnest($5::text[]) WITH ORDINALITY AS digests (digest, place)
  WHERE EXISTS (SELECT 1 FROM erasures WHERE workspace_id = $1 AND own_digest = digest)`

/**
 * Creates no customer if any was erased since the plans were made: it may be the same one, for whose erasure this statement
 * has waited.
 */
const WRITE = `
  WITH planned AS MATERIALIZED (
    SELECT planned.*, durable.set_config FROM json_to_recordset($3::json) AS planned (
      customer_id text, customer_type text, client_customer_id text, customer_name text, name_key text, change text,
      name_before text
    ), (SELECT ${DURABLE}) AS durable
  ), made AS (
    INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name, name_key,
      created_ms, updated_ms)
    SELECT $1, customer_id, customer_type, client_customer_id, customer_name, name_key, $2::bigint, $2::bigint
    FROM planned WHERE change = 'made' ORDER BY customer_type, client_customer_id
    ON CONFLICT DO NOTHING RETURNING customer_id
  ), renamed AS (
    UPDATE customers
    SET customer_name = planned.customer_name, name_key = planned.name_key, updated_ms = $2::bigint
    FROM planned
    WHERE change = 'renamed' AND customers.workspace_id = $1 AND customers.customer_id = planned.customer_id
      AND customers.customer_name = name_before
    RETURNING customers.customer_id
  ), done AS MATERIALIZED (
    SELECT customer_id FROM made UNION ALL SELECT customer_id FROM renamed
    UNION ALL SELECT customer_id FROM planned WHERE change = 'none'
  ), words AS MATERIALIZED (
    SELECT words.* FROM json_to_recordset($4::json) AS words (
      customer_id text, word text, created_ms bigint, is_new boolean
    ) JOIN done USING (customer_id)
  ), added AS (
    INSERT INTO customer_words (workspace_id, word, created_ms, customer_id)
    SELECT $1, word, created_ms, customer_id FROM words WHERE is_new ON CONFLICT DO NOTHING
  ), removed AS (
    DELETE FROM customer_words USING words
    WHERE NOT is_new AND customer_words.workspace_id = $1 AND customer_words.word = words.word
      AND customer_words.created_ms = words.created_ms AND customer_words.customer_id = words.customer_id
  ), entering AS MATERIALIZED (
    SELECT entering.* FROM json_to_recordset($5::json) AS entering (
      journey_id text, customer_id text, customer_type text
    ) JOIN done USING (customer_id)
  ), enrolled AS (
    INSERT INTO enrolments (workspace_id, journey_id, customer_id, enrolled_ms)
    SELECT $1, journey_id, customer_id, $2::bigint FROM entering ORDER BY journey_id, customer_id
    ON CONFLICT DO NOTHING RETURNING journey_id, customer_id
  ), arrived AS (
    INSERT INTO enrolment_arrivals (workspace_id, arrival, enrolments)
    SELECT $1, $6, json_agg(json_build_object('journey_id', journey_id, 'customer_id', customer_id,
      'customer_type', customer_type, 'enrolled_ms', $2::bigint, 'made', customer_id IN (SELECT customer_id FROM made)))
    FROM enrolled JOIN entering USING (journey_id, customer_id) HAVING count(*) > 0
  )
  SELECT customer_id FROM done WHERE (SELECT count(*) = 0 OR assert_erasures($1, $7::bigint) FROM made)`
