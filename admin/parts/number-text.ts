const locale = 'en'

/** A number: `1,234`. */
export function countText(count: number): string {
  return count.toLocaleString(locale)
}

/** A number for the scale of a chart, which has little room: `1,234`, from a hundred thousand on `250K`, `1.25M`. */
export function scaleText(count: number): string {
  if (count < 100_000) return countText(count)
  return count.toLocaleString(locale, { notation: 'compact', maximumFractionDigits: 2 })
}

/** A number with its noun: `1 customer`, `1,234 customers`. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Bytes in megabytes: `0.3 MB`, `1,234.5 MB`. */
export function bytesText(bytes: number): string {
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return (bytes / 1_000_000).toLocaleString(locale, { style: 'unit', unit: 'megabyte', ...digits })
}

/**
 * A share from 0 to 1 as a percentage: `46%`. Never rounded to nothing or everything: `0.3%`, `99.8%`. `–` for a share of
 * nothing.
 */
export function shareText(share: number | null): string {
  if (share === null) return '–'
  if (share > 0 && share < 0.001) return `<${percentText(0.001, 1)}`
  if (share > 0.999 && share < 1) return `>${percentText(0.999, 1)}`
  const isNearAnEnd = (share > 0 && share < 0.01) || (share > 0.99 && share < 1)
  return percentText(share, isNearAnEnd ? 1 : 0)
}

function percentText(share: number, digits: number): string {
  return share.toLocaleString(locale, { style: 'percent', maximumFractionDigits: digits })
}

/** The relative change from an earlier number, `+8%`; undefined if there is nothing to compare with. */
export function changeText(now: number, before: number): string | undefined {
  if (before === 0) return undefined
  const change = now / before - 1
  if (Math.abs(change) < 0.005) return now === before ? 'no change' : 'about the same'
  return change.toLocaleString(locale, { style: 'percent', signDisplay: 'always' })
}
