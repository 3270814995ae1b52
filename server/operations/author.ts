import type { Caller, Context } from '../contract.ts'
import type { Authorship } from '../storage/tables/audit-log.ts'
import type { StoredSession } from '../storage/tables/sessions.ts'

/**
 * Returns the caller in the form of the audit log, with the time of a change. Call it in the transaction of the change,
 * which waits for others: the log is in the order of these times.
 */
export function authorOf({ caller, now, address, requestId }: Context): Authorship {
  const from = { at_ms: now(), address, request_id: requestId }
  switch (caller.kind) {
    case 'key':
      return { ...from, actor: { kind: 'service_key', id: caller.key.key_id, name: caller.key.name } }
    case 'person':
      return { ...from, actor: personActor(caller.session) }
    case 'nobody':
      return { ...from, actor: { kind: 'unknown', id: null, name: null } }
  }
}

/** Returns a person in the form of the audit log. */
export function personActor({ person_id, name }: { person_id: string; name: string }): Authorship['actor'] {
  return { kind: 'person', id: person_id, name }
}

/** Returns the session of an operation that only people may call. */
export function sessionOf(caller: Caller): StoredSession {
  if (caller.kind !== 'person') throw new Error('by the contract, only people may call this operation')
  return caller.session
}

/** Returns the caller's role, in an operation that only members may call. */
export function ownRole(caller: Caller) {
  if (caller.kind !== 'person' || !caller.membership)
    throw new Error('by the contract, this operation requires a role')
  return caller.membership.role
}
