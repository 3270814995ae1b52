/** A number of things as people write it, `1,234`. */
export function countText(count: number): string {
  return count.toLocaleString('en')
}

/** A number of things with what they are called, `1 customer`, `1,234 customers`. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** So many bytes, in megabytes: `0.3 MB`, `1,234.5 MB`. */
export function bytesText(bytes: number): string {
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return `${(bytes / 1_000_000).toLocaleString('en', digits)}\u00a0MB`
}

/**
 * A part of a whole, from 0 to 1, in per cent: `46 %`. It is never rounded to nothing or to all, `0.3 %` and `99.8 %`;
 * a part of nothing is `–`. Its parts stay in one line.
 */
export function shareText(share: number | null): string {
  if (share === null) return '–'
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '<\u00a00.1\u00a0%'
  if (percent > 99.9 && percent < 100) return '>\u00a099.9\u00a0%'
  const isNearAnEnd = (percent > 0 && percent < 1) || (percent > 99 && percent < 100)
  return `${percent.toFixed(isNearAnEnd ? 1 : 0)}\u00a0%`
}

/** How much more or less than before, `+8 %`; undefined where there was nothing to compare with. */
export function changeText(now: number, before: number): string | undefined {
  if (before === 0) return undefined
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return now === before ? 'as many' : 'nearly as many'
  return `${percent > 0 ? '+' : '−'}${countText(Math.abs(percent))}\u00a0%`
}
