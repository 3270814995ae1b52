import { type Kysely, sql } from 'kysely'

/**
 * The words of customers' names, for searches by prefix (an inverted index). A row contains everything that the list
 * order needs, so that thousands are sorted without reading the customers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  await addWords(db as Kysely<Tables>)
  // In key order, because each row at a random position costs a page of the file.
  await sql`INSERT INTO customer_words SELECT * FROM words_of_customers ORDER BY 1, 2, 3, 4`.execute(db)
  await sql`DROP TABLE words_of_customers`.execute(db)
}

const statements = [
  'DROP INDEX customers_by_name',

  `CREATE TABLE customer_words (
    workspace_id TEXT NOT NULL,
    word TEXT NOT NULL, -- its first characters; customers.name_key has all words whole
    created_ms INTEGER NOT NULL, -- of the customer
    customer_id TEXT NOT NULL,
    PRIMARY KEY (workspace_id, word, created_ms, customer_id)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TEMPORARY TABLE words_of_customers (
    workspace_id TEXT NOT NULL, word TEXT NOT NULL, created_ms INTEGER NOT NULL, customer_id TEXT NOT NULL
  )`,
]

type Tables = {
  customers: {
    customer_ref: number
    workspace_id: string
    customer_id: string
    customer_name: string
    created_ms: number
  }
}

/** Customers per statement, so that a store with millions of them is migrated in bounded memory. */
const CUSTOMERS = 1000

async function addWords(db: Kysely<Tables>) {
  for (let last = 0; ; ) {
    const customers = await db
      .selectFrom('customers')
      .select(['customer_ref', 'workspace_id', 'customer_id', 'customer_name', 'created_ms'])
      .where('customer_ref', '>', last)
      .orderBy('customer_ref')
      .limit(CUSTOMERS)
      .execute()
    if (customers.length === 0) return
    const named = customers.map((customer) => ({ ...customer, words: nameWords(customer.customer_name) }))
    const keys = named.map(({ customer_ref, words }) => [
      customer_ref,
      words.map((word) => ` ${word}`).join(''),
    ])
    await sql`UPDATE customers SET name_key = value ->> 1 FROM json_each(${JSON.stringify(keys)})
      WHERE customer_ref = value ->> 0`.execute(db)
    const rows = named.flatMap(({ workspace_id, customer_id, created_ms, words }) => {
      const beginnings = new Set(words.map((word) => [...word].slice(0, 32).join('')))
      return [...beginnings].map((word) => [workspace_id, word, created_ms, customer_id])
    })
    await sql`INSERT INTO words_of_customers SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3
      FROM json_each(${JSON.stringify(rows)})`.execute(db)
    last = customers.at(-1)?.customer_ref ?? 0
  }
}

const WORD = /\p{S}|[\p{sc=Han}\p{sc=Hira}]|[[\p{L}\p{M}\p{N}\p{Cn}\p{Co}]--[\p{sc=Han}\p{sc=Hira}]]+/gv

const PLAIN: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
  þ: 'th',
  ς: 'σ',
}

/**
 * The first 20 distinct words of a name, without letter case, accents and invisible characters: as defined when this
 * migration was written, even if searches change later.
 */
export function nameWords(name: string): string[] {
  const visible = name.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  const plain = visible
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/gu, '')
    .toLowerCase()
    .normalize('NFKC')
  const folded = plain.replace(/[ßæœøđðħıłŧþς]/gu, (letter) => PLAIN[letter] ?? letter)
  const words = folded.match(WORD) ?? [folded.replace(/[\p{Z}\p{C}]+/gu, '')].filter((word) => word !== '')
  return [...new Set(words)].slice(0, 20)
}
