/**
 * The viewer's time zone as the browser names it; undefined if the browser does not know its name and shows all times in UTC,
 * as Chromium does with TZ=`UTC+3`.
 */
export function viewerTimeZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  // The contract's pattern: a browser may name a zone by its offset alone, `+03:00`.
  return timeZone !== 'Etc/Unknown' && /^[A-Za-z0-9_+/-]{1,64}$/.test(timeZone) ? timeZone : undefined
}

/** The time zone of the times on a screen, as a sentence. */
export function timeZoneText(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  if (timeZone === 'Etc/Unknown') return 'Times are in UTC: your browser does not know your time zone.'
  return `Times are in your time zone, ${timeZone}.`
}
