import type { Operations } from '../contract.ts'
import * as customers from './customers.ts'
import * as events from './events.ts'
import * as ingestion from './ingestion.ts'
import * as journeys from './journeys.ts'

/** The function of each operation, by its operationId. One that is missing does not compile. */
export const allOperations: Operations = { ...customers, ...events, ...ingestion, ...journeys }
