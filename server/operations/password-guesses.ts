import type { components } from '../../generated/contract.ts'
import type { Context } from '../contract.ts'
import { isDevice } from '../domain/devices.ts'
import { emailKey } from '../domain/emails.ts'
import { networkOf } from '../domain/networks.ts'
import { Problem } from '../problems.ts'
import type { Transaction } from '../storage/database.ts'
import { noteEverywhere } from '../storage/tables/audited-changes.ts'
import { findPerson, findPersonByEmail, type StoredPerson } from '../storage/tables/people.ts'
import { authorOf } from './author.ts'

const LEAST_DELAY_MS = 500

type Person = components['schemas']['Person']

/**
 * The person who signs in with this email and password. It takes as long where there is none.
 * @throws {Problem} `sign_in_refused`; `too_many_attempts` where too many guesses were wrong
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
 * @param email by which the account is known, if there is one
 * @param options.isSignedIn whether the person has a session
 * @returns the person; undefined where the password is wrong or there is no such account
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
  if (isKnownDevice) return await attempts.guess({ own: { by: 'device', value: device } }, compare)
  // With the password's hash: a new password, for example by `cairn member set-password`, has no guesses against it yet.
  const account = `${emailKey(email)} ${person?.password_hash}`
  const shared = [
    { by: 'network', value: network },
    { by: 'account', value: account },
  ] as const
  return await attempts.guess({ own: { by: 'pair', value: `${account} ${network}` }, shared }, compare)
}

/**
 * Asserts in a transaction what was found before it: the password may have been changed meanwhile, and that ends all
 * sessions.
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
 * Notes a failed sign-in some time later, and nobody waits for it: the work that it makes would else tell by the time of
 * this answer, or of the next one, whether there is such a person.
 */
function noteFailedSignIn(context: Context, person: Person) {
  const author = authorOf(context)
  const note = () => context.change((db) => noteEverywhere(db, person, author, { action: 'sign_in_failed' }))
  const delay_ms = LEAST_DELAY_MS + Math.random() * LEAST_DELAY_MS
  setTimeout(() => note().catch(() => {}), delay_ms).unref()
}
