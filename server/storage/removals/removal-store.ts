import type { Database, ReadingDatabase, Transaction } from '../database.ts'
import type { Removal } from './removals.ts'

/** Takes out of a store what is to be gone. What nobody can find any more at once goes by and by, behind the writes. */
export type RemovalStore = {
  /**
   * Takes a customer out, in the caller's transaction: from its commit on nobody finds it, and nothing is taken for it. Its
   * events go by and by.
   * @returns the removal_id, and in how many journeys it was; undefined where there is no such customer
   */
  removeCustomer(
    db: Transaction,
    customer: Pick<Removal, 'workspace_id' | 'begun_ms'> & { customer_id: string },
  ): Promise<{ removal_id: string; enrolments: number } | undefined>

  /**
   * Takes a journey out, in the caller's transaction: from its commit on nobody finds it, and nothing is taken for it. Its
   * events and enrolments go by and by, its definition with the last of them.
   */
  removeJourney(
    db: Transaction,
    journey: Pick<Removal, 'workspace_id' | 'begun_ms'> & { journey_id: string },
  ): Promise<void>

  /** How many customers take part in a journey. */
  countEnrolments(
    db: Database | ReadingDatabase,
    journey: { workspace_id: string; journey_id: string },
  ): Promise<number>

  /** To be called when something that is to be removed is committed: else it would wait for some seconds. */
  begin(): void
}
