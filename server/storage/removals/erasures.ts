import { setImmediate as nextRound } from 'node:timers/promises'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { DB, Erasures } from '../../../generated/tables.ts'
import { firstPosition } from '../../domain/cursors.ts'
import { isId } from '../../domain/identifiers.ts'
import { ownDigest } from '../../domain/own-digest.ts'
import type { ForwardRows, Page } from '../../domain/paging.ts'
import { erasedDelivery } from '../../domain/webhook-messages.ts'
import type { ErasedNames } from '../refusals/refusal-writer.ts'
import { type Authorship, insertAuditEntry } from '../tables/audit-log.ts'
import { findCustomer } from '../tables/customers.ts'
import { inSlices } from '../tables/some-rows.ts'
import { deletePendingAbout, insertDeliveries } from '../tables/webhook-deliveries.ts'
import { deleteWindowsOf } from '../tables/webhook-windows.ts'
import { webhooksOf } from '../tables/webhooks.ts'
import { hasWorkspace } from '../tables/workspaces.ts'
import { noteEvents } from './noted-events.ts'
import type { NotedErasure, RemovalStore } from './removal-store.ts'
import type { Removal } from './removals.ts'

/** The tombstone of an erased customer. */
export type Erasure = Selectable<Erasures>

/**
 * Erases a customer: from the commit on it is hidden and nothing is accepted for it; the rest is removed gradually. An
 * already erased one stays so.
 * @param customer.may_return whether a customer with the same `client_customer_id` may register again, as a new one
 * @returns undefined if the customer does not exist
 */
export async function eraseCustomer(
  db: Transaction<DB>,
  removals: Pick<RemovalStore, 'removeCustomer'>,
  customer: { workspace_id: string; customer_id: string; may_return: boolean },
  author: Authorship,
): Promise<Erasure | undefined> {
  const { workspace_id, customer_id, may_return } = customer
  const before = await findErasure(db, workspace_id, customer_id)
  if (before) return before
  const found = await findCustomer(db, workspace_id, customer_id)
  if (!found) return undefined
  const own_digest = may_return ? null : ownDigest(await secretOf(db, workspace_id), found)
  return await takeOut(
    db,
    removals,
    { workspace_id, customer_id, own_digest, erased_ms: author.at_ms },
    author,
  )
}

/** Repeats an erasure after an older store was restored. @returns whether there was anything to do */
export async function eraseAgain(
  db: Transaction<DB>,
  removals: Pick<RemovalStore, 'removeCustomer'>,
  noted: NotedErasure,
  author: Authorship,
): Promise<boolean> {
  const { workspace_id, customer_id } = noted
  if (!(await hasWorkspace(db, workspace_id))) return false
  if (await findErasure(db, workspace_id, customer_id)) return false
  const erased = await takeOut(db, removals, noted, author)
  // A customer that is younger than the older store is not in it, and must not come back either.
  if (!erased) await insertErasure(db, { ...noted, completed_ms: author.at_ms, events: 0 })
  return true
}

async function takeOut(
  db: Transaction<DB>,
  removals: Pick<RemovalStore, 'removeCustomer'>,
  noted: NotedErasure,
  author: Authorship,
): Promise<Erasure | undefined> {
  const { workspace_id, customer_id } = noted
  const removed = await removals.removeCustomer(db, { workspace_id, customer_id, begun_ms: author.at_ms })
  if (!removed) return undefined
  const erasure = await insertErasure(db, { ...noted, completed_ms: null, events: null })
  await forgetName(db, workspace_id, customer_id)
  await tellErasure(db, noted)
  const { enrolments } = removed
  await insertAuditEntry(db, workspace_id, author, {
    action: 'customer_erased',
    subject: { kind: 'customer', id: customer_id, name: customer_id },
    after: { journeys: enrolments, may_return: noted.own_digest === null },
  })
  return erasure
}

/** Takes back what has not been sent about a customer, and tells the webhooks that it was erased. */
async function tellErasure(db: Transaction<DB>, { workspace_id, customer_id, erased_ms }: NotedErasure) {
  await deleteWindowsOf(db, workspace_id, customer_id)
  await deletePendingAbout(db, workspace_id, customer_id)
  for (const webhook of await webhooksOf(db, workspace_id)) {
    if (!webhook.types.includes('customer.erased')) continue
    await insertDeliveries(db, webhook, [erasedDelivery(webhook.webhook_id, customer_id, erased_ms)])
  }
}

/** Removes a customer's data from the audit log, except what was done and by whom. */
async function forgetName(db: Transaction<DB>, workspaceId: string, customerId: string) {
  await db
    .updateTable('audit_log')
    .set({ subject_name: customerId, before: null, after: null })
    .where('workspace_id', '=', workspaceId)
    .where('subject_id', '=', customerId)
    .execute()
}

/** Records that nothing is left of a customer, and how much was removed: with the erasure, and in the audit log. */
export async function completeErasure(
  db: Transaction<DB>,
  { workspace_id, subject_id: customer_id }: Removal,
  { events, completed_ms }: { events: number; completed_ms: number },
): Promise<void> {
  await db
    .updateTable('erasures')
    .set({ events, completed_ms })
    .where('workspace_id', '=', workspace_id)
    .where('customer_id', '=', customer_id)
    .execute()
  await noteEvents(db, { workspace_id, subject_id: customer_id, action: 'customer_erased', events })
}

export async function findErasure(
  db: Kysely<DB>,
  workspaceId: string,
  customerId: string,
): Promise<Erasure | undefined> {
  return await db
    .selectFrom('erasures')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
}

/**
 * Returns the next erasures of a workspace in commit order: each once, in its current state.
 * @param clock_ms by the clock of the store, before they are read
 */
export async function oldestErasures(
  db: Kysely<DB>,
  workspaceId: string,
  { limit, after = firstPosition('cus') }: Page,
  clock_ms: number,
): Promise<ForwardRows<Erasure>> {
  const rows = await db
    .selectFrom('erasures')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('number', '>', after.ms)
    .orderBy('number')
    .limit(limit + 1)
    .execute()
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const next = last ? { ms: last.number, id: last.customer_id } : after
  return { rows: page, next, caughtUp_ms: rows.length > limit ? null : clock_ms }
}

/** Takes the next number of its workspace, whose row stays locked until the commit: numbers become visible in order. */
async function insertErasure(db: Transaction<DB>, noted: Omit<Erasure, 'number'>): Promise<Erasure> {
  const { erasures: number } = await db
    .updateTable('workspaces')
    .set(({ eb }) => ({ erasures: eb('erasures', '+', 1) }))
    .where('workspace_id', '=', noted.workspace_id)
    .returning('erasures')
    .executeTakeFirstOrThrow()
  const erasure = { ...noted, number }
  await db.insertInto('erasures').values(erasure).execute()
  return erasure
}

/**
 * Returns what finds erased customers of a workspace: their `customer_id`, and their own identifiers unless they may
 * return.
 * @returns undefined if nobody was erased
 */
export async function erasedNames(db: Kysely<DB>, workspaceId: string): Promise<ErasedNames | undefined> {
  const workspace = await db
    .selectFrom('workspaces')
    .select(['erasures', 'erasure_secret'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  if (!workspace || workspace.erasures === 0) return undefined
  const { erasure_secret, erasures } = workspace
  return {
    erasures,
    async among(texts) {
      const named = new Set<string>()
      for (const some of inSlices([...texts])) {
        const digests = new Map<string, string>()
        for (const [index, client_customer_id] of some.entries()) {
          if (index % DIGESTED_AT_ONCE === 0) await nextRound()
          for (const customer_type of CUSTOMER_TYPES)
            digests.set(ownDigest(erasure_secret, { customer_type, client_customer_id }), client_customer_id)
        }
        // Senders chose the texts: one may contain a NUL, which PostgreSQL accepts in no parameter.
        const ids = some.filter((text) => isId('cus', text))
        const found = await db
          .selectFrom('erasures')
          .select(['customer_id', 'own_digest'])
          .where('workspace_id', '=', workspaceId)
          .where((eb) =>
            eb.or([
              ...(ids.length > 0 ? [eb('customer_id', 'in', ids)] : []),
              eb('own_digest', 'in', [...digests.keys()]),
            ]),
          )
          .execute()
        for (const { customer_id, own_digest } of found) {
          for (const text of [customer_id, digests.get(own_digest ?? '')])
            if (text !== undefined && texts.has(text)) named.add(text)
        }
      }
      return named
    },
  }
}

/** Maximum texts digested between two yields to other work of the main thread: 1 to 2 ms. */
const DIGESTED_AT_ONCE = 125

const CUSTOMER_TYPES = ['account', 'contact'] as const

async function secretOf(db: Kysely<DB>, workspaceId: string): Promise<string> {
  const { erasure_secret } = await db
    .selectFrom('workspaces')
    .select('erasure_secret')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return erasure_secret
}
