import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { assertUniqueSteps } from '../domain/journey-steps.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import type { ReadingDatabase, Transaction } from '../storage/database.ts'
import * as removals from '../storage/removals/journey-removals.ts'
import * as audited from '../storage/tables/audited-changes.ts'
import * as journeys from '../storage/tables/journeys.ts'
import { authorOf } from './author.ts'

type Journey = components['schemas']['Journey']
type JourneyUpdate = components['schemas']['JourneyUpdate']

export const listJourneys: Operation<'listJourneys'> = async ({ workspaceId, query }, context) => {
  const { storage, reading } = context
  const page = await journeys.newestJourneys(storage.lists(reading), workspaceId, query, pageOf(query, 'jrn'))
  return { status: 200, body: pageBody(page) }
}

export const createJourney: Operation<'createJourney'> = async ({ workspaceId, body }, context) => {
  const { name, description = '', steps = [] } = body
  assertUniqueSteps(steps)
  const row = { journey_id: context.newId('jrn'), name, description, steps }
  const journey = await context.change((db) => {
    return audited.createJourney(db, workspaceId, row, authorOf(context))
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
  const journey = await change(context, workspaceId, path.journey_id, body)
  if (body.retention_days !== undefined) context.storage.removals.begin()
  return { status: 200, body: journey }
}

export const archiveJourney: Operation<'archiveJourney'> = async ({ workspaceId, path }, context) => {
  return { status: 200, body: await change(context, workspaceId, path.journey_id, { status: 'archived' }) }
}

export const restoreJourney: Operation<'restoreJourney'> = async ({ workspaceId, path }, context) => {
  return { status: 200, body: await change(context, workspaceId, path.journey_id, { status: 'active' }) }
}

export const removeJourney: Operation<'removeJourney'> = async (request, context) => {
  const { workspaceId, path, query, body } = request
  const { storage, reading } = context
  const { journey_id } = path
  const assertRemovable = async (db: ReadingDatabase | Transaction) => {
    const journey = await journeys.findJourney(db, workspaceId, journey_id)
    if (!journey) throw new Problem('journey_not_found')
    if (journey.status !== 'archived') throw new Problem('journey_active')
    if (journey.name !== body.name) throw new Problem('name_differs')
    return journey
  }
  await assertRemovable(storage.db)
  const counted = await storage.events.countEvents(workspaceId, { journey_id }, reading)
  const { events, isAll } = counted
  // Not in the transaction, which the writer waits for: nobody can enter an archived journey.
  const enrolments = await storage.removals.countEnrolments(storage.lists(reading), {
    workspace_id: workspaceId,
    journey_id,
  })
  const removal = { journey_id, events, more_events: !isAll, enrolments }
  if (query.dry_run) return { status: 200, body: { ...removal, dry_run: true } }
  await context.change(async (db) => {
    const journey = { ...(await assertRemovable(db)), enrolments }
    await removals.removeJourney(db, storage.removals, workspaceId, journey, authorOf(context))
  })
  storage.removals.begin()
  return { status: 200, body: removal }
}

async function change(
  context: Context,
  workspaceId: string,
  journeyId: string,
  changed: JourneyUpdate | Pick<Journey, 'status'>,
): Promise<Journey> {
  return await context.change(async (db) => {
    const before = await journeys.findJourney(db, workspaceId, journeyId)
    if (!before) throw new Problem('journey_not_found')
    return await audited.changeJourney(db, workspaceId, before, changed, authorOf(context))
  })
}
