import type { Kysely, Selectable, Transaction } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB, People } from '../../../generated/tables.ts'
import { emailKey } from '../../domain/emails.ts'
import { nameWords, wordsText } from '../../domain/name-words.ts'

type Person = components['schemas']['Person']

/** A person and the argon2id hash of the person's password. */
export type StoredPerson = Person & { password_hash: string }

/** Creates a person; false if there is one with the email, ignoring letter case. */
export async function insertPerson(
  db: Transaction<DB>,
  person: StoredPerson & { created_ms: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('people')
    .values({ ...person, name_key: wordsText(nameWords(person.name)), email_key: emailKey(person.email) })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export async function findPersonByEmail(db: Kysely<DB>, email: string): Promise<StoredPerson | undefined> {
  const row = await db
    .selectFrom('people')
    .selectAll()
    .where('email_key', '=', emailKey(email))
    .executeTakeFirst()
  return row && personOf(row)
}

export async function findPerson(db: Kysely<DB>, personId: string): Promise<StoredPerson | undefined> {
  const row = await db.selectFrom('people').selectAll().where('person_id', '=', personId).executeTakeFirst()
  return row && personOf(row)
}

export async function updateName(db: Transaction<DB>, personId: string, name: string): Promise<void> {
  await db
    .updateTable('people')
    .set({ name, name_key: wordsText(nameWords(name)) })
    .where('person_id', '=', personId)
    .execute()
}

export async function updatePassword(db: Transaction<DB>, personId: string, hash: string): Promise<void> {
  await db.updateTable('people').set({ password_hash: hash }).where('person_id', '=', personId).execute()
}

/** Whether there is anybody who can sign in. */
export async function hasPeople(db: Kysely<DB>): Promise<boolean> {
  return (await db.selectFrom('people').select('person_id').limit(1).executeTakeFirst()) !== undefined
}

function personOf({ person_id, name, email, password_hash }: Selectable<People>): StoredPerson {
  return { person_id, name, email, password_hash }
}
