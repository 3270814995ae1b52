import type { components } from '../../../generated/contract.ts'
import type { VariableFilter } from '../../domain/event-values.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import type { Reading } from '../database.ts'

type CustomerType = components['schemas']['CustomerType']
type StepOrder = components['schemas']['StepOrder']
type BreakdownGroup = components['schemas']['BreakdownGroup']

/** A time span; the end is exclusive. */
export type EntryPeriod = { entered_from_ms?: number; entered_to_ms?: number }

/** Which enrolments count, and in which part of the journey. All conditions must hold. */
export type StandingFilter = EntryPeriod & {
  customer_type?: CustomerType
  /** A step counts as reached only within this time after the first step of the part. */
  window_ms?: number
  /**
   * The part of the journey begins with this step, from 1: only enrolments that have reached it count. Without it the
   * part begins with the entry.
   */
  first_step?: number
  /** The part ends with this step, from 1. */
  last_step?: number
  /** Whether other steps may occur between two steps of the part; they may by default. */
  step_order?: StepOrder
  /** What the variables of the event must be that `touch` chooses. */
  variables?: readonly VariableFilter[]
  touch?: Touch
}

/**
 * The event whose variables decide about an enrolment: that of the first step, of the last one that it has reached, or
 * of a step, from 1; whatever the window. The first by default.
 */
export type Touch = 'first' | 'last' | number

/** What enrolments are divided into groups by. */
export type Breakdown = { by: 'customer_type' } | { by: 'variable'; name: string }

/** A filter, and whether its numbers are wanted by group. */
export type BrokenDown<Filter extends StandingFilter = StandingFilter> = Filter & { breakdown?: Breakdown }

/** Also wanted for another period. */
export type ComparedReport = BrokenDown & { compared?: Required<EntryPeriod> }

/** Which customers to list. Steps are numbered from 1. Nobody matches a step that the journey does not have. */
export type CustomerFilter = StandingFilter & {
  /** Has reached this step. */
  reached?: number
  /** Has not reached this step. */
  not_reached?: number
  /**
   * Has reached the first step but not the last, and the window is still open (`waiting`) or over (`dropped`). Without
   * a window nobody is either.
   */
  standing?: 'waiting' | 'dropped'
  /** Has an event of this step but has not reached it, whatever the window. */
  out_of_order?: number
}

/** As-of time and steps of numbers. */
export type StandingsState = {
  /** Every event acknowledged by this time is included; null if none has been processed yet, and all counts are 0. */
  as_of_ms: number | null
  /**
   * Progress in enrolments of a rebuild after the steps were edited; until it ends, numbers are of the previous steps.
   */
  recomputing: { done: number; total: number } | null
  /** The events of the steps that the numbers refer to, in order. */
  event_ids: readonly string[]
}

/** How long a step took the customers who reached it, from the previous step; for the first step, from the entry. */
export type StepTimes = {
  n: number
  /** Exact, like `percentile_cont`: interpolated between two neighbours. Null if n is 0. */
  median_ms: number | null
  p90_ms: number | null
}

export type StepNumbers = {
  reached: number
  /** Reached the previous step and can still reach this one. Null for the first step and without a window. */
  waiting: number | null
  /** Reached the previous step, and the window is over. Null for the first step and without a window. */
  dropped: number | null
  /** Have an event of this step but have not reached it, whatever the window. */
  out_of_order: number
  times: StepTimes
}

/** How many are enrolled, and the steps of the part. */
export type PartNumbers = { enrolled: number; steps: readonly StepNumbers[] }

/** The same, and for the compared period; null if none is compared. */
export type ComparedNumbers = PartNumbers & { comparison: PartNumbers | null }

/** Null without a breakdown. A group is omitted if nobody is in it. */
type Grouped<Numbers> = readonly (Numbers & { group: BreakdownGroup })[] | null

export type JourneyNumbers = StandingsState & ComparedNumbers & { groups: Grouped<ComparedNumbers> }

/** The enrolments that entered at `starts_ms` or later and before `ends_ms`. */
export type Cohort = {
  starts_ms: number
  ends_ms: number
  enrolled: number
  /** By step. */
  reached: readonly number[]
  /** Numbers may still grow: somebody may enter, or reach a step within the window. Without a window: may enter. */
  incomplete: boolean
}

export type JourneyCohorts = StandingsState & {
  cohorts: readonly Cohort[]
  groups: Grouped<{ cohorts: readonly Cohort[] }>
}

/** How often a step took `from_ms` or longer and less than `to_ms`; null means no upper limit. */
type TimeRange = { from_ms: number; to_ms: number | null; count: number }

/** A histogram of how long a step took, in contiguous ranges, at most 40; `counts` are by range. */
export type JourneyTimes = StandingsState & {
  times: StepTimes
  ranges: readonly TimeRange[]
  groups: Grouped<{ times: StepTimes; counts: readonly number[] }>
}

/** A reached step: when, and by which event. */
type FilledStep = { at_ms: number; id: string }

export type EnrolmentStanding = {
  entered_ms: number
  /** The steps reached, in order from the first, whatever the window. */
  reached: readonly FilledStep[]
  /** The steps, numbered from 1, that have an event and are not reached. */
  out_of_order: readonly number[]
}

export type CustomerStanding = EnrolmentStanding & { customer_id: string; customer_type: CustomerType }

export type CustomerJourney = EnrolmentStanding & StandingsState & { journey_id: string }

/** The report to read ahead of. */
export type AheadOf = {
  filter: ComparedReport
  /** Where to go on; null to begin. */
  after: string | null
  /** How much it may keep: a share of the memory for all reports, up to 1. */
  room: number
}

export type ReadAhead = {
  /** Where to go on; null at the end. */
  next: string | null
  /** How many enrolments had not been read before. */
  unread: number
  /** Which share of the memory is taken, as far as was read; null if there was no room, and nothing is kept. */
  share: number | null
}

/**
 * Where customers stand in their journeys, derived from the events after the fact, with one implementation per engine.
 * Everything is undefined for a journey that the workspace does not have.
 *
 * @throws {Unavailable} from every method if too many requests wait, or the answer takes longer than some seconds
 * @throws {BreakdownTooLarge} if the variables of events would take longer to read than that
 * @throws {StrictOrderTooLarge} if the events for a strict order would
 */
export type Standings = {
  report(
    workspaceId: string,
    journeyId: string,
    filter: ComparedReport,
    reading: Reading,
  ): Promise<JourneyNumbers | undefined>

  /**
   * Reads for some 100 ms what a report will need of the variables of events, and keeps it in memory, so that the
   * report need not.
   */
  readAhead(
    workspaceId: string,
    journeyId: string,
    ahead: AheadOf,
    reading: Reading,
  ): Promise<ReadAhead | undefined>

  /** @param filter.starts_ms ascending: each cohort begins at one and ends at the next */
  trend(
    workspaceId: string,
    journeyId: string,
    filter: BrokenDown & { starts_ms: readonly number[] },
    reading: Reading,
  ): Promise<JourneyCohorts | undefined>

  /** @param filter.step from 1 */
  histogram(
    workspaceId: string,
    journeyId: string,
    filter: BrokenDown & { step: number },
    reading: Reading,
  ): Promise<JourneyTimes | undefined>

  /**
   * By (`entered_ms`, `customer_id`), newest first. A page ends after a fixed number of enrolments examined, or for a
   * strict order after a second; the next page starts after `next`.
   */
  customers(
    workspaceId: string,
    journeyId: string,
    filter: CustomerFilter,
    page: Page,
    reading: Reading,
  ): Promise<(StandingsState & PageRows<CustomerStanding>) | undefined>

  /**
   * One customer's journeys, newest journey first; empty for a customer that does not exist. Every enrolment
   * acknowledged by `as_of_ms` is included.
   */
  customerJourneys(
    workspaceId: string,
    customerId: string,
    page: Page,
    reading: Reading,
  ): Promise<Pick<StandingsState, 'as_of_ms'> & PageRows<CustomerJourney>>
}
