import type { Selectable } from 'kysely'
import type { Erasures } from '../../../generated/tables.ts'
import type { ReadingDatabase, Transaction } from '../database.ts'
import type { Removal } from './removals.ts'

/** What is recorded of an erasure outside the store, to repeat it after an older store was restored. */
export type NotedErasure = Pick<
  Selectable<Erasures>,
  'workspace_id' | 'customer_id' | 'own_digest' | 'erased_ms'
>

/** Removes data from a store. What is no longer visible is deleted gradually, behind the writes. */
export type RemovalStore = {
  /**
   * Removes a customer, in the transaction that records its erasure: from its commit on it is hidden and nothing is
   * accepted for it. Its events are deleted gradually.
   * @returns the removal_id, and the number of its journeys; undefined if the customer does not exist
   */
  removeCustomer(
    db: Transaction,
    customer: Pick<Removal, 'workspace_id' | 'begun_ms'> & { customer_id: string },
  ): Promise<{ removal_id: string; enrolments: number } | undefined>

  /**
   * Removes a journey, in the caller's transaction: from its commit on it is hidden and nothing is accepted for it. Its
   * events and enrolments are deleted gradually, and its definition with the last of them.
   */
  removeJourney(
    db: Transaction,
    journey: Pick<Removal, 'workspace_id' | 'begun_ms'> & { journey_id: string },
  ): Promise<void>

  /** Counts the enrolments of a journey, which takes the longer the more there are: not in a transaction of the writer. */
  countEnrolments(db: ReadingDatabase, journey: { workspace_id: string; journey_id: string }): Promise<number>

  /**
   * Records a committed erasure outside of the store, if it has such a journal, so that a restore of an older backup
   * does not undo it. Call it before answering. It does not fail: what could not be recorded is retried, and its
   * removal waits for it.
   */
  note(erasure: NotedErasure): Promise<void>

  /** Call it when a removal has been committed; otherwise it starts after some seconds. */
  begin(): void
}
