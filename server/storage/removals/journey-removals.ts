import type { components } from '../../../generated/contract.ts'
import type { Transaction } from '../database.ts'
import { type Authorship, insertAuditEntry } from '../tables/audit-log.ts'
import { noteEvents } from './noted-events.ts'
import type { RemovalStore } from './removal-store.ts'
import type { Removal } from './removals.ts'

type Journey = components['schemas']['Journey']

/** Removes a journey: from the commit on it is hidden; the rest is removed gradually. */
export async function removeJourney(
  db: Transaction,
  removals: Pick<RemovalStore, 'removeJourney'>,
  workspace_id: string,
  { journey_id, name, enrolments }: Pick<Journey, 'journey_id' | 'name'> & { enrolments: number },
  author: Authorship,
): Promise<void> {
  await removals.removeJourney(db, { workspace_id, journey_id, begun_ms: author.at_ms })
  await insertAuditEntry(db, workspace_id, author, {
    action: 'journey_removed',
    subject: { kind: 'journey', id: journey_id, name },
    after: { enrolments },
  })
}

/** Deletes the definition of a journey, the last part, and records how many events it had. */
export async function completeJourneyRemoval(
  db: Transaction,
  { workspace_id, subject_id: journey_id, events }: Removal,
): Promise<void> {
  await db
    .deleteFrom('journeys')
    .where('workspace_id', '=', workspace_id)
    .where('journey_id', '=', journey_id)
    .execute()
  await noteEvents(db, { workspace_id, subject_id: journey_id, action: 'journey_removed', events })
}
