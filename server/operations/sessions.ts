import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { isDevice, newDevice } from '../domain/devices.ts'
import { nameKey } from '../domain/names.ts'
import { networkOf } from '../domain/networks.ts'
import { Problem } from '../problems.ts'
import { findPerson, findPersonByEmail, type StoredPerson, updatePassword } from '../storage/people.ts'
import { deleteSession, deleteSessionsOf } from '../storage/sessions.ts'
import { authorOf, noteEverywhere, sessionOf } from './author.ts'
import { shownSession, startSession } from './session-start.ts'

const LEAST_DELAY_MS = 500

type Person = components['schemas']['Person']

export const signIn: Operation<'signIn'> = async ({ body }, context) => {
  const { storage, passwords } = context
  const person = await findPersonByEmail(storage.db, body.email)
  const right = beginGuess(context, body.email, person)
  const isRight = await passwords.matches(body.password, person?.password_hash)
  if (!person || !isRight) {
    if (person) noteFailedSignIn(context, person)
    throw signInRefused()
  }
  right()
  return await context.change(async (db) => {
    // Again, because the password may have been changed while it was compared, and that ends all sessions.
    const { password_hash } = (await findPerson(db, person.person_id)) ?? {}
    if (password_hash !== person.password_hash) throw signInRefused()
    return { status: 201, ...(await startSession(db, context, person)) }
  })
}

export const getSession: Operation<'getSession'> = async (_request, context) => {
  return { status: 200, body: await shownSession(context.storage.db, sessionOf(context.caller)) }
}

export const signOut: Operation<'signOut'> = async (_request, context) => {
  const session = sessionOf(context.caller)
  await context.change(async (db) => {
    await deleteSession(db, session.digest)
    await noteEverywhere(db, session, authorOf(context), 'signed_out')
  })
  return { status: 204, cookies: { session: null } }
}

export const signOutEverywhere: Operation<'signOutEverywhere'> = async (_request, context) => {
  const session = sessionOf(context.caller)
  await context.change(async (db) => {
    await deleteSessionsOf(db, session.person_id)
    await noteEverywhere(db, session, authorOf(context), 'signed_out_everywhere')
  })
  return { status: 204, cookies: { session: null } }
}

export const changePassword: Operation<'changePassword'> = async ({ body }, context) => {
  const { storage, passwords } = context
  const session = sessionOf(context.caller)
  const person = await findPerson(storage.db, session.person_id)
  const right = beginGuess(context, session.email, person)
  const isRight = await passwords.matches(body.current_password, person?.password_hash)
  if (!person || !isRight) throw new Problem('password_wrong')
  right()
  const hash = await passwords.hash(body.new_password)
  return await context.change(async (db) => {
    // Again, because an operator may have given another password meanwhile, to keep out whoever knows this one.
    const { password_hash } = (await findPerson(db, person.person_id)) ?? {}
    if (password_hash !== person.password_hash) throw new Problem('password_wrong')
    await updatePassword(db, session.person_id, hash)
    await deleteSessionsOf(db, session.person_id, { except: session.digest })
    await noteEverywhere(db, session, authorOf(context), 'password_changed')
    const body = await shownSession(db, session)
    return { status: 200, body, cookies: { device: newDevice(hash) } }
  })
}

function signInRefused(): Problem {
  return new Problem('sign_in_refused', {
    headers: { 'WWW-Authenticate': 'Session cookie="cairn_session"' },
  })
}

/** Counts a guess at the password of an account; a browser that has signed in to it before has a count of its own. */
function beginGuess(
  { attempts, address, cookies }: Context,
  email: string,
  person: StoredPerson | undefined,
) {
  const { device } = cookies
  const account = nameKey(email)
  if (person && device !== undefined && isDevice(device, person.password_hash)) {
    return attempts.begin([{ by: 'device', value: device }])
  }
  const from = networkOf(address)
  return attempts.begin([
    { by: 'pair', value: `${account} ${from}` },
    { by: 'address', value: from },
    { by: 'account', value: account },
  ])
}

/**
 * Notes a failed sign-in some time later, and nobody waits for it: the work that it makes would else tell by the time of
 * this answer, or of the next one, whether there is such a person.
 */
function noteFailedSignIn(context: Context, person: Person) {
  const author = authorOf(context)
  const note = () => context.change((db) => noteEverywhere(db, person, author, 'sign_in_failed'))
  const delay_ms = LEAST_DELAY_MS + Math.random() * LEAST_DELAY_MS
  setTimeout(() => note().catch(() => {}), delay_ms).unref()
}
