import type { components } from '../../generated/contract.ts'
import type { Operation } from '../contract.ts'
import { instantOrNull, instantText } from '../domain/instants.ts'
import { forwardPageBody, pageOf } from '../domain/paging.ts'
import * as erasures from '../storage/removals/erasures.ts'
import { authorOf } from './author.ts'
import { customerNotFound } from './customer-not-found.ts'

export const eraseCustomer: Operation<'eraseCustomer'> = async ({ workspaceId, path, query }, context) => {
  const { storage } = context
  const customer = {
    workspace_id: workspaceId,
    customer_id: path.customer_id,
    may_return: query.may_return ?? false,
  }
  const erasure = await context.change((db) => {
    return erasures.eraseCustomer(db, storage.removals, customer, authorOf(context))
  })
  if (!erasure) throw customerNotFound(path.customer_id)
  // Before the answer: an erasure that was answered must survive the restore of an older backup.
  await storage.removals.note(erasure)
  storage.removals.begin()
  return { status: 200, body: erasureOf(erasure) }
}

export const listErasures: Operation<'listErasures'> = async ({ workspaceId, query }, context) => {
  const { storage, reading } = context
  const clock_ms = await storage.clock_ms(reading)
  const page = pageOf(query, 'cus')
  const walked = await erasures.oldestErasures(storage.lists(reading), workspaceId, page, clock_ms)
  return { status: 200, body: forwardPageBody({ ...walked, rows: walked.rows.map(erasureOf) }) }
}

/** Converts an erasure to the form of the contract. */
function erasureOf(erasure: erasures.Erasure): components['schemas']['Erasure'] {
  const { customer_id, own_digest, erased_ms, completed_ms, events } = erasure
  return {
    customer_id,
    may_return: own_digest === null,
    erased_at: instantText(erased_ms),
    completed_at: instantOrNull(completed_ms),
    events,
  }
}
