/**
 * A model of standings and their numbers: computed from scratch in the simplest way from the definition alone. It
 * shares no code with the server, so that the two can be compared.
 */

export type ModelEvent = { customer: string; name: string; at_ms: number; id: string }

export type ModelEnrolment = { customer: string; customer_type: 'account' | 'contact'; at_ms: number }

export type ModelJourney = { enrolments: readonly ModelEnrolment[]; events: readonly ModelEvent[] }

export type ModelFilter = {
  entered_from_ms?: number
  entered_to_ms?: number
  customer_type?: 'account' | 'contact'
  window_ms?: number
}

export type ModelStanding = {
  customer: string
  customer_type: 'account' | 'contact'
  entered_ms: number
  /** t1…tm, each with the event that fills the step. */
  reached: { at_ms: number; id: string }[]
  /** Steps, from 1, that were completed early. */
  out_of_order: number[]
}

/** Returns the standing of every enrolment of a journey, by customer. */
export function modelStandings(
  { enrolments, events }: ModelJourney,
  names: readonly string[],
): ModelStanding[] {
  const customers = [...new Set(enrolments.map(({ customer }) => customer))].sort()
  return customers.map((customer) => {
    const mine = enrolments.filter((enrolment) => enrolment.customer === customer)
    const all = events.filter((event) => event.customer === customer)
    const reached: ModelStanding['reached'] = []
    for (const name of names) {
      const last = reached.at(-1)
      if (reached.length < names.indexOf(name)) break
      const [first] = all
        .filter((event) => event.name === name && (!last || event.at_ms >= last.at_ms))
        .sort((one, other) => one.at_ms - other.at_ms || (one.id < other.id ? -1 : 1))
      if (first) reached.push({ at_ms: first.at_ms, id: first.id })
    }
    const out_of_order = names.flatMap((name, index) =>
      index >= reached.length && all.some((event) => event.name === name) ? [index + 1] : [],
    )
    return {
      customer,
      customer_type: mine[0]?.customer_type ?? 'account',
      entered_ms: Math.min(...mine.map(({ at_ms }) => at_ms), ...all.map(({ at_ms }) => at_ms)),
      reached,
      out_of_order,
    }
  })
}

/** Returns the standings that match a filter. */
export function modelEntered(standings: readonly ModelStanding[], filter: ModelFilter): ModelStanding[] {
  const { entered_from_ms = -Infinity, entered_to_ms = Infinity, customer_type } = filter
  return standings.filter(
    (standing) =>
      standing.entered_ms >= entered_from_ms &&
      standing.entered_ms < entered_to_ms &&
      (!customer_type || standing.customer_type === customer_type),
  )
}

/** Whether a step, from 1, is reached within the window. */
export function modelReaches(
  standing: ModelStanding,
  step: number,
  { window_ms = Infinity }: ModelFilter,
): boolean {
  const [first, at] = [standing.reached[0], standing.reached[step - 1]]
  return first !== undefined && at !== undefined && at.at_ms <= first.at_ms + window_ms
}

/** For a customer who has reached a step and not the next: whether the window is still open. */
export function modelIsOpen(
  standing: ModelStanding,
  filter: { window_ms: number },
  asOf_ms: number,
): boolean {
  const [first] = standing.reached
  return first !== undefined && asOf_ms <= first.at_ms + filter.window_ms
}

/** Returns the numbers of a report. */
export function modelReport(
  standings: readonly ModelStanding[],
  names: readonly string[],
  filter: ModelFilter,
  asOf_ms: number,
) {
  const entered = modelEntered(standings, filter)
  const steps = names.map((_, index) => {
    const step = index + 1
    const there = entered.filter((standing) => modelReaches(standing, step, filter))
    const short = entered.filter(
      (standing) => modelReaches(standing, step - 1, filter) && !modelReaches(standing, step, filter),
    )
    const { window_ms } = filter
    const isCounted = window_ms !== undefined && step > 1
    const isOpen = (standing: ModelStanding) => modelIsOpen(standing, { window_ms: window_ms ?? 0 }, asOf_ms)
    return {
      reached: there.length,
      waiting: isCounted ? short.filter(isOpen).length : null,
      dropped: isCounted ? short.filter((standing) => !isOpen(standing)).length : null,
      out_of_order: entered.filter(({ out_of_order }) => out_of_order.includes(step)).length,
      times: modelTimes(modelStepTimes(entered, step, filter)),
    }
  })
  return { enrolled: entered.length, steps }
}

/** Returns the times that a step took, of all who reached it. */
export function modelStepTimes(
  entered: readonly ModelStanding[],
  step: number,
  filter: ModelFilter,
): number[] {
  return entered
    .filter((standing) => modelReaches(standing, step, filter))
    .map(({ entered_ms, reached }) => {
      const from_ms = step === 1 ? entered_ms : (reached[step - 2]?.at_ms ?? Number.NaN)
      return (reached[step - 1]?.at_ms ?? Number.NaN) - from_ms
    })
}

/** Median and 90th percentile as PostgreSQL's `percentile_cont` defines them. */
export function modelTimes(times_ms: readonly number[]) {
  const sorted = [...times_ms].sort((one, other) => one - other)
  const n = sorted.length
  const percentile = (tenths: number) => {
    if (n === 0) return null
    const [below, rest] = [Math.floor((tenths * (n - 1)) / 10), (tenths * (n - 1)) % 10]
    const [low = Number.NaN, high = low] = [sorted[below], sorted[below + 1]]
    return (low * (10 - rest) + high * rest) / 10
  }
  return { n, median_ms: percentile(5), p90_ms: percentile(9) }
}
