import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { changedFields } from '../domain/changes.ts'
import { assertUniqueSteps } from '../domain/journey-steps.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import { insertAuditEntry } from '../storage/audit-log.ts'
import * as journeys from '../storage/journeys.ts'
import { authorOf } from './author.ts'

type Journey = components['schemas']['Journey']
type JourneyUpdate = components['schemas']['JourneyUpdate']

export const listJourneys: Operation<'listJourneys'> = async ({ workspaceId, query }, { storage }) => {
  const page = pageOf(query, 'jrn')
  const rows = await journeys.newestJourneys(storage.db, workspaceId, query, page)
  return { status: 200, body: pageBody(rows, page, ({ journey }) => journey) }
}

export const createJourney: Operation<'createJourney'> = async ({ workspaceId, body }, context) => {
  const { name, description = '', steps = [] } = body
  assertUniqueSteps(steps)
  const row = { journey_id: context.newId('jrn'), name, description, steps, created_ms: context.now() }
  const journey = await context.storage.db.transaction().execute(async (db) => {
    const made = await journeys.insertJourney(db, workspaceId, row)
    await insertAuditEntry(db, workspaceId, authorOf(context), {
      action: 'journey_created',
      subject: subjectOf(made),
      after: audited(made),
    })
    return made
  })
  return { status: 201, body: journey }
}

export const getJourney: Operation<'getJourney'> = async ({ workspaceId, path }, { storage }) => {
  const journey = await journeys.findJourney(storage.db, workspaceId, path.journey_id)
  if (!journey) throw new Problem('journey_not_found')
  return { status: 200, body: journey }
}

export const updateJourney: Operation<'updateJourney'> = async ({ workspaceId, path, body }, context) => {
  assertUniqueSteps(body.steps ?? [])
  return { status: 200, body: await change(context, workspaceId, path.journey_id, 'journey_updated', body) }
}

export const archiveJourney: Operation<'archiveJourney'> = async ({ workspaceId, path }, context) => {
  const status = { status: 'archived' } as const
  return {
    status: 200,
    body: await change(context, workspaceId, path.journey_id, 'journey_archived', status),
  }
}

export const restoreJourney: Operation<'restoreJourney'> = async ({ workspaceId, path }, context) => {
  const status = { status: 'active' } as const
  return {
    status: 200,
    body: await change(context, workspaceId, path.journey_id, 'journey_restored', status),
  }
}

/** Replaces what is given. A journey that is so already stays as it is, its `updated_at` included. */
async function change(
  context: Context,
  workspaceId: string,
  journeyId: string,
  action: 'journey_updated' | 'journey_archived' | 'journey_restored',
  changed: JourneyUpdate | Pick<Journey, 'status'>,
): Promise<Journey> {
  const { storage, now } = context
  return await storage.db.transaction().execute(async (db) => {
    const before = await journeys.findJourney(db, workspaceId, journeyId)
    if (!before) throw new Problem('journey_not_found')
    const changes = changedFields(audited(before), audited({ ...before, ...changed }))
    if (!changes) return before
    const after = await journeys.updateJourney(db, workspaceId, journeyId, { ...changed, updated_ms: now() })
    const subject = subjectOf(after)
    await insertAuditEntry(db, workspaceId, authorOf(context), { action, subject, ...changes })
    return after
  })
}

/** What the audit log tells of a journey. */
function audited({ name, description, steps, status }: Journey) {
  return { name, description, steps, status }
}

function subjectOf({ journey_id, name }: Journey) {
  return { kind: 'journey', id: journey_id, name } as const
}
