import type { Operation } from '../contract.ts'
import { Problem } from '../problems.ts'
import { allDefinitions } from '../storage/tables/event-definitions.ts'
import { findJourney } from '../storage/tables/journeys.ts'

export const getJourneyContract: Operation<'getJourneyContract'> = async ({ workspaceId, path }, context) => {
  const { db } = context.storage
  const journey = await findJourney(db, workspaceId, path.journey_id)
  if (!journey) throw new Problem('journey_not_found')
  const definitions = await allDefinitions(db, workspaceId)
  return { status: 200, file: await context.journeyContract(journey, definitions) }
}
