import type { components } from '../../generated/contract.ts'
import type { Context } from '../contract.ts'
import { networkOf } from '../domain/addresses.ts'
import { isDevice } from '../domain/devices.ts'
import { emailKey } from '../domain/emails.ts'
import { Problem } from '../problems.ts'
import type { Transaction } from '../storage/database.ts'
import { noteEverywhere } from '../storage/tables/audited-changes.ts'
import { findPerson, findPersonByEmail, type StoredPerson } from '../storage/tables/people.ts'
import { authorOf } from './author.ts'

const LEAST_DELAY_MS = 500

type Person = components['schemas']['Person']

/**
 * Returns the person with this email and password. It takes equally long if there is none.
 * @throws {Problem} `sign_in_refused`; `too_many_attempts` after too many wrong guesses
 */
export async function personWithPassword(
  context: Context,
  { email, password }: { email: string; password: string },
): Promise<StoredPerson> {
  const found = await findPersonByEmail(context.storage.db, email)
  const person = await guessPassword(context, email, password, found)
  if (person) return person
  if (found) noteFailedSignIn(context, found)
  throw signInRefused()
}

/**
 * Compares a password with that of an account, and counts the guess.
 * @param email of the account, if there is one
 * @param options.isSignedIn whether the person has a session
 * @returns the person; undefined if the password is wrong or the account does not exist
 * @throws {Problem} `too_many_attempts`
 */
export async function guessPassword(
  { attempts, passwords, address, cookies }: Context,
  email: string,
  password: string,
  person: StoredPerson | undefined,
  { isSignedIn = false } = {},
): Promise<StoredPerson | undefined> {
  const { device } = cookies
  const network = networkOf(address)
  const isKnownDevice = person !== undefined && device !== undefined && isDevice(device, person.password_hash)
  const guessing = person && (isKnownDevice || isSignedIn) ? { person: person.person_id } : { network }
  const compare = async () => {
    return (await passwords.matches(password, person?.password_hash, guessing)) ? person : undefined
  }
  if (isKnownDevice) return await attempts.guess([{ by: 'device', value: device }], compare)
  // Includes the password hash, so that a new password, for example by `cairn member set-password`, starts without
  // guesses.
  const account = `${emailKey(email)} ${person?.password_hash}`
  const subjects = [
    { by: 'pair', value: `${account} ${network}` },
    { by: 'network', value: network },
    { by: 'account', value: account },
  ] as const
  return await attempts.guess(subjects, compare)
}

/**
 * Checks in a transaction that the password is still the one compared before: it may have been changed meanwhile, and
 * that ends all sessions.
 * @throws {Problem} `sign_in_refused`
 */
export async function assertSamePassword(
  db: Transaction,
  { person_id, password_hash }: StoredPerson,
): Promise<void> {
  const person = await findPerson(db, person_id)
  if (person?.password_hash !== password_hash) throw signInRefused()
}

export function signInRefused(): Problem {
  return new Problem('sign_in_refused', {
    headers: { 'WWW-Authenticate': 'Session cookie="cairn_session"' },
  })
}

/**
 * Records a failed sign-in after a random delay, without making anyone wait: the time of this response, or of the next
 * one, would otherwise reveal whether the person exists.
 */
function noteFailedSignIn(context: Context, person: Person) {
  const author = authorOf(context)
  const note = () => context.change((db) => noteEverywhere(db, person, author, { action: 'sign_in_failed' }))
  const delay_ms = LEAST_DELAY_MS + Math.random() * LEAST_DELAY_MS
  setTimeout(() => note().catch(() => {}), delay_ms).unref()
}
