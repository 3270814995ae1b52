/** The 97.5th percentile of the standard normal distribution: intervals have a confidence level of 95 %. */
const Z = 1.959963984540054

export type Interval = { low: number; high: number }

/** `part` of `whole`, which is more than zero. */
export type CountedShare = { part: number; whole: number }

/**
 * Returns the Wilson score interval of a share, without continuity correction: method 3 of R. G. Newcombe, "Two-sided
 * confidence intervals for the single proportion: comparison of seven methods", Statistics in Medicine 17 (1998).
 */
export function shareInterval({ part, whole }: CountedShare): Interval {
  const share = part / whole
  const middle = 2 * part + Z * Z
  const half = Z * Math.sqrt(Z * Z + 4 * part * (1 - share))
  const width = 2 * (whole + Z * Z)
  return {
    // Exact at the ends, where rounding would leave a rest.
    low: part === 0 ? 0 : (middle - half) / width,
    high: part === whole ? 1 : (middle + half) / width,
  }
}

/**
 * Returns the difference of two independent shares, `one` minus `other`, with its interval: Newcombe's hybrid score
 * interval from the Wilson intervals of both, method 10 of R. G. Newcombe, "Interval estimation for the difference
 * between independent proportions: comparison of eleven methods", Statistics in Medicine 17 (1998).
 */
export function shareDifference(one: CountedShare, other: CountedShare): Interval & { difference: number } {
  const [share, otherShare] = [one.part / one.whole, other.part / other.whole]
  const [own, others] = [shareInterval(one), shareInterval(other)]
  const difference = share - otherShare
  return {
    difference,
    low: Math.max(-1, difference - Math.hypot(share - own.low, others.high - otherShare)),
    high: Math.min(1, difference + Math.hypot(own.high - share, otherShare - others.low)),
  }
}
