import { newId, newIdBetween, unmadeId } from '../../../domain/identifiers.ts'
import { indexedBeginning, nameWords, wordsOfText, wordsText } from '../../../domain/name-words.ts'
import { ownDigest } from '../../../domain/own-digest.ts'
import type { Discretion, InitializeOutcome } from '../../events/event-store.ts'
import { brokenInitializeRule } from '../../events/ingestion-rules.ts'
import type { Connection } from '../connection.ts'
import { LAST_CUSTOMER_REF } from '../customer-refs.ts'
import type { References } from './references.ts'

export type Initialization = {
  workspace_id: string
  journey_id: string
  customer_type: string
  client_customer_id: string
  customer_name: string
  discretion?: Discretion | undefined
}

/** Registers customers, inside a transaction of the writer. */
export class CustomerWriter {
  readonly #references: References
  readonly #connection: Connection
  readonly #statements: ReturnType<typeof prepare>
  /** By number of words. */
  readonly #addWordsOf: ReturnType<typeof prepareWords>[] = []

  constructor(connection: Connection, references: References) {
    this.#connection = connection
    this.#references = references
    this.#statements = prepare(connection)
  }

  initialize(unit: Initialization, now_ms: number): InitializeOutcome {
    const { workspace_id, customer_type, client_customer_id, customer_name, discretion } = unit
    const place = this.#place(unit)
    if (typeof place === 'string') return { status: 'refused', code: place }
    const { journey, known } = place
    const customer_id =
      known?.customer_id ?? (discretion ? newIdBetween('cus', discretion.since_ms, now_ms) : newId('cus'))
    let customer_ref = known?.customer_ref
    if (customer_ref === undefined) {
      const words = nameWords(customer_name)
      const names = [customer_type, client_customer_id, customer_name, wordsText(words)]
      const { lastInsertRowid } = this.#statements.insert.run(
        workspace_id,
        customer_id,
        ...names,
        now_ms,
        now_ms,
      )
      customer_ref = Number(lastInsertRowid)
      this.#addWords(workspace_id, beginnings(words), now_ms, customer_id)
    } else if (known && known.customer_name !== customer_name && !discretion) {
      this.#rename(workspace_id, known, customer_name, now_ms)
    }
    let enrolled = false
    if (!journey.enrolled.has(customer_id)) {
      const { enrol, number } = this.#statements
      enrolled = enrol.run(journey.journey_ref, customer_ref, now_ms).changes > 0
      if (enrolled) number.run(journey.journey_ref, customer_ref)
      // Its first event often follows at once; looking it up then would take 25 µs.
      this.#references.noteEnrolled(journey.enrolled, customer_id, customer_ref)
    }
    return { status: 'stored', customer_id, created: known === undefined, enrolled }
  }

  /** The answer `initialize` would give now; with customer protection it is the same for every customer. */
  check(unit: Initialization): InitializeOutcome {
    if (unit.discretion) {
      const journeyStatus = this.#references.journey(unit.workspace_id, unit.journey_id)?.status
      const code = brokenInitializeRule({ journeyStatus, isErased: () => false, isDiscreet: true })
      return code
        ? { status: 'refused', code }
        : { status: 'stored', customer_id: unmadeId('cus'), created: false, enrolled: false }
    }
    const place = this.#place(unit)
    if (typeof place === 'string') return { status: 'refused', code: place }
    const { journey, known } = place
    return {
      status: 'stored',
      customer_id: known?.customer_id ?? unmadeId('cus'),
      created: known === undefined,
      enrolled: !known || typeof this.#references.enrolledCustomer(journey, known.customer_id) === 'string',
    }
  }

  /** The journey and, if known, the customer; or why it cannot enter. */
  #place(unit: Initialization) {
    const journey = this.#references.journey(unit.workspace_id, unit.journey_id)
    if (!journey) return 'journey_not_found'
    const known = this.#known(unit)
    const code = brokenInitializeRule({
      journeyStatus: journey.status,
      isErased: () => !known && this.#isErased(unit),
      isDiscreet: unit.discretion !== undefined,
    })
    return code ?? { journey, known }
  }

  #known({ workspace_id, customer_type, client_customer_id }: Initialization): KnownCustomer | undefined {
    return this.#statements.customer.get(workspace_id, customer_type, client_customer_id)
  }

  #isErased(unit: Initialization): boolean {
    const { workspace_id } = unit
    const workspace = this.#statements.workspace.get(workspace_id)
    // Mostly nobody, and then no digest is needed.
    if (!workspace || workspace.erasures === 0) return false
    const digest = ownDigest(workspace.erasure_secret, unit)
    return this.#statements.erased.get(workspace_id, digest) !== undefined
  }

  #rename(workspace_id: string, known: KnownCustomer, customer_name: string, now_ms: number) {
    const { rename, removeWord } = this.#statements
    const { customer_ref, customer_id, created_ms } = known
    const words = nameWords(customer_name)
    // Compare with the stored words: another version of Unicode may split the same name differently.
    const before = new Set(beginnings(wordsOfText(known.name_key)))
    const after = new Set(beginnings(words))
    for (const word of before) {
      if (!after.delete(word)) removeWord.run(workspace_id, word, created_ms, customer_id)
    }
    this.#addWords(workspace_id, [...after], created_ms, customer_id)
    rename.run(customer_name, wordsText(words), now_ms, customer_ref)
  }

  #addWords(workspace_id: string, words: string[], created_ms: number, customer_id: string) {
    if (words.length === 0) return
    this.#addWordsOf[words.length] ??= prepareWords(this.#connection, words.length)
    this.#addWordsOf[words.length]?.run(workspace_id, created_ms, customer_id, ...words)
  }
}

type KnownCustomer = {
  customer_ref: number
  customer_id: string
  customer_name: string
  name_key: string
  created_ms: number
}

/** The words in their indexed form. */
function beginnings(words: string[]): string[] {
  const beginnings = words.map(indexedBeginning)
  return beginnings.every((beginning, index) => beginning === words[index])
    ? beginnings
    : [...new Set(beginnings)]
}

/** Inserts all words of a customer in one statement: one statement per word would take twice as long. */
function prepareWords(connection: Connection, count: number) {
  const rows = Array(count).fill('(?)')
  return connection.prepare<[string, number, string, ...string[]]>(
    `INSERT INTO customer_words (workspace_id, created_ms, customer_id, word)
      SELECT * FROM (SELECT ?, ?, ?), (VALUES ${rows})`,
  )
}

function prepare(connection: Connection) {
  return {
    customer: connection.prepare<[string, string, string], KnownCustomer>(
      `SELECT customer_ref, customer_id, customer_name, name_key, created_ms FROM customers
      WHERE workspace_id = ? AND customer_type = ? AND client_customer_id = ?`,
    ),
    insert: connection.prepare(
      `INSERT INTO customers (customer_ref, workspace_id, customer_id, customer_type, client_customer_id, customer_name,
        name_key, created_ms, updated_ms) VALUES ((
          SELECT 1 + ${LAST_CUSTOMER_REF} FROM event_indexing
        ), ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    workspace: connection.prepare<[string], { erasure_secret: string; erasures: number }>(
      'SELECT erasure_secret, erasures FROM workspaces WHERE workspace_id = ?',
    ),
    erased: connection.prepare<[string, string]>(
      'SELECT 1 FROM erasures WHERE workspace_id = ? AND own_digest = ?',
    ),
    rename: connection.prepare<[string, string, number, number]>(
      'UPDATE customers SET customer_name = ?, name_key = ?, updated_ms = ? WHERE customer_ref = ?',
    ),
    removeWord: connection.prepare<[string, string, number, string]>(
      'DELETE FROM customer_words WHERE workspace_id = ? AND word = ? AND created_ms = ? AND customer_id = ?',
    ),
    enrol: connection.prepare<[number, number, number]>(
      'INSERT INTO enrolments (journey_ref, customer_ref, enrolled_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    number: connection.prepare<[number, number]>(
      'INSERT INTO enrolment_numbers (journey_ref, customer_ref) VALUES (?, ?)',
    ),
  }
}
