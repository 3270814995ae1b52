import type { Operation } from '../contract.ts'
import { newDevice } from '../domain/devices.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { noteEverywhere, renamePerson, replacePassword } from '../storage/tables/audited-changes.ts'
import { findPerson } from '../storage/tables/people.ts'
import { deleteSession, deleteSessionsOf, openSessions } from '../storage/tables/sessions.ts'
import { authorOf, sessionOf } from './author.ts'
import { assertSamePassword, guessPassword, personWithPassword } from './password-guesses.ts'
import { shownSession, startSession } from './session-start.ts'

export const signIn: Operation<'signIn'> = async ({ body }, context) => {
  const person = await personWithPassword(context, body)
  return await context.change(async (db) => {
    await assertSamePassword(db, person)
    return { status: 201, ...(await startSession(db, context, person)) }
  })
}

export const getSession: Operation<'getSession'> = async (_request, context) => {
  return { status: 200, body: await shownSession(context.storage.db, context, sessionOf(context.caller)) }
}

export const listSessions: Operation<'listSessions'> = async (_request, { storage, caller, now }) => {
  const { digest, person_id } = sessionOf(caller)
  const sessions = await openSessions(storage.db, person_id, now())
  const data = sessions.map(({ session_id, browser, ...session }) => ({
    session_id,
    browser,
    created_at: instantText(session.created_ms),
    last_used_at: instantText(session.last_seen_ms),
    expires_at: instantText(session.expires_ms),
    current: session.digest === digest,
  }))
  return { status: 200, body: { data } }
}

export const endSession: Operation<'endSession'> = async ({ path }, context) => {
  const own = sessionOf(context.caller)
  return await context.change(async (db) => {
    const sessions = await openSessions(db, own.person_id, context.now())
    const session = sessions.find(({ session_id }) => session_id === path.session_id)
    if (!session) throw new Problem('session_not_found')
    await deleteSession(db, session.digest)
    const before = { created_at: instantText(session.created_ms) }
    await noteEverywhere(db, own, authorOf(context), { action: 'session_ended', before })
    return { status: 204, ...(session.digest === own.digest && { cookies: { session: null } }) }
  })
}

export const signOut: Operation<'signOut'> = async (_request, context) => {
  const session = sessionOf(context.caller)
  await context.change(async (db) => {
    await deleteSession(db, session.digest)
    await noteEverywhere(db, session, authorOf(context), { action: 'signed_out' })
  })
  return { status: 204, cookies: { session: null } }
}

export const signOutEverywhere: Operation<'signOutEverywhere'> = async (_request, context) => {
  const session = sessionOf(context.caller)
  await context.change(async (db) => {
    await deleteSessionsOf(db, session.person_id)
    await noteEverywhere(db, session, authorOf(context), { action: 'signed_out_everywhere' })
  })
  return { status: 204, cookies: { session: null } }
}

export const changeName: Operation<'changeName'> = async ({ body }, context) => {
  return await context.change(async (db, caller) => {
    const session = sessionOf(caller)
    await renamePerson(db, session, body.name, authorOf(context))
    return { status: 200, body: await shownSession(db, context, { ...session, name: body.name }) }
  })
}

export const changePassword: Operation<'changePassword'> = async ({ body }, context) => {
  const { storage, passwords } = context
  const session = sessionOf(context.caller)
  const found = await findPerson(storage.db, session.person_id)
  const person = await guessPassword(context, session.email, body.current_password, found, {
    isSignedIn: true,
  })
  if (!person) {
    await context.change((db) => {
      return noteEverywhere(db, session, authorOf(context), { action: 'password_change_failed' })
    })
    throw new Problem('password_wrong')
  }
  const password_hash = await passwords.hash(body.new_password, session.person_id)
  return await context.change(async (db) => {
    // Again, because someone may have set another password meanwhile, to lock out anyone who knows this one.
    const before = await findPerson(db, person.person_id)
    if (before?.password_hash !== person.password_hash) throw new Problem('password_wrong')
    const { person_id, email, digest } = session
    const after = { person_id, email, password_hash }
    await replacePassword(db, after, authorOf(context), 'password_changed', { except: digest })
    const body = await shownSession(db, context, session)
    return { status: 200, body, cookies: { device: newDevice(password_hash) } }
  })
}
