import type { components } from '../../../generated/contract.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import type { Reading } from '../database.ts'

type CustomerType = components['schemas']['CustomerType']

/** Which enrolments count. All conditions hold together. */
export type StandingFilter = {
  /** Entered at this instant or later. */
  entered_from_ms?: number
  /** Entered before this instant. */
  entered_to_ms?: number
  customer_type?: CustomerType
  /** A step is reached where it is reached no later than so long after the first. */
  window_ms?: number
}

/** Who stands where. Steps are counted from 1. Nobody matches a step that the journey does not have. */
export type CustomerFilter = StandingFilter & {
  /** Has reached this step. */
  reached?: number
  /** Has not reached this step. */
  not_reached?: number
  /**
   * Has reached the first step and not the last, and the window is open still (`waiting`) or over (`dropped`). Without a
   * window nobody is either.
   */
  standing?: 'waiting' | 'dropped'
  /** Has an event of this step and has not reached it, whatever the window. */
  out_of_order?: number
}

/** Since when numbers hold, and of which steps they are. */
export type StandingsState = {
  /** Every event that was acknowledged by then is in; null: none has been looked at yet, and all counts are 0. */
  as_of_ms: number | null
  /** Where the steps were edited and the numbers are of those before: how many enrolments are done anew, of how many. */
  recomputing: { done: number; total: number } | null
  /** The events of the steps that the numbers are of, in their order. */
  event_ids: readonly string[]
}

/** What a step took those who have reached it: from the step before, the first one from the entry. */
export type StepTimes = {
  n: number
  /** Exact, as `percentile_cont` has them: between two neighbours in proportion. Null where n is 0. */
  median_ms: number | null
  p90_ms: number | null
}

export type StepNumbers = {
  reached: number
  /** Reached the step before and may reach this one still. Null for the first step and without a window. */
  waiting: number | null
  /** Reached the step before, and the window is over. Null for the first step and without a window. */
  dropped: number | null
  /** Have an event of this step and have not reached it, whatever the window. */
  out_of_order: number
  times: StepTimes
}

export type JourneyNumbers = StandingsState & {
  enrolled: number
  steps: readonly StepNumbers[]
}

/** The enrolments that entered at `starts_ms` or later and before `ends_ms`. */
export type Cohort = {
  starts_ms: number
  ends_ms: number
  enrolled: number
  /** By step. */
  reached: readonly number[]
  /** Time goes on for it: somebody may still enter, or reach a step within the window. Without a window: may enter. */
  incomplete: boolean
}

export type JourneyCohorts = StandingsState & { cohorts: readonly Cohort[] }

/** How often a step took `from_ms` or longer and less than `to_ms`; null: any longer. */
export type TimeRange = { from_ms: number; to_ms: number | null; count: number }

/** What a step took, in ranges that follow each other without a gap, at most 40. */
export type JourneyTimes = StandingsState & { times: StepTimes; ranges: readonly TimeRange[] }

/** A step that was reached: when, and by which event. */
export type FilledStep = { at_ms: number; id: string }

export type EnrolmentStanding = {
  entered_ms: number
  /** The steps that are reached, from the first on, whatever the window. */
  reached: readonly FilledStep[]
  /** The steps, from 1, that have an event and are not reached. */
  out_of_order: readonly number[]
}

export type CustomerStanding = EnrolmentStanding & { customer_id: string; customer_type: CustomerType }

export type CustomerJourney = EnrolmentStanding & StandingsState & { journey_id: string }

/**
 * Where customers stand in their journeys, computed behind the events, one implementation for each engine. Everything is
 * undefined for a journey that the workspace does not have.
 *
 * @throws {Unavailable} from every method where too much waits, or it is not read within seconds
 */
export type Standings = {
  report(
    workspaceId: string,
    journeyId: string,
    filter: StandingFilter,
    reading: Reading,
  ): Promise<JourneyNumbers | undefined>

  /** @param filter.starts_ms ascending: each cohort begins at one and ends at the next */
  trend(
    workspaceId: string,
    journeyId: string,
    filter: StandingFilter & { starts_ms: readonly number[] },
    reading: Reading,
  ): Promise<JourneyCohorts | undefined>

  /** @param filter.step from 1 */
  histogram(
    workspaceId: string,
    journeyId: string,
    filter: StandingFilter & { step: number },
    reading: Reading,
  ): Promise<JourneyTimes | undefined>

  /**
   * By (`entered_ms`, `customer_id`), newest first. A page ends after so many enrolments that were looked at, and then goes
   * on behind `next`.
   */
  customers(
    workspaceId: string,
    journeyId: string,
    filter: CustomerFilter,
    page: Page,
    reading: Reading,
  ): Promise<(StandingsState & PageRows<CustomerStanding>) | undefined>

  /**
   * One customer's journeys, newest journey first; empty for a customer that does not exist. Every enrolment that was
   * acknowledged by `as_of_ms` is among them.
   */
  customerJourneys(
    workspaceId: string,
    customerId: string,
    page: Page,
    reading: Reading,
  ): Promise<Pick<StandingsState, 'as_of_ms'> & PageRows<CustomerJourney>>
}
