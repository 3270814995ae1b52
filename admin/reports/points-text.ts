/** A difference of two shares in percentage points, with its sign: `+12`, `-0.4`, `0`. */
export function pointsText(difference: number): string {
  const points = difference * 100
  const digits = Math.abs(points) < 1 ? 1 : 0
  return points.toLocaleString('en', { maximumFractionDigits: digits, signDisplay: 'exceptZero' })
}
