/**
 * The viewer's time zone, as the browser names it; undefined where it does not know its name and shows all times in UTC, as
 * Chromium does where TZ is `UTC+3`.
 */
export function viewerTimeZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  // The form that the contract takes: a browser may name a zone by its offset alone, `+03:00`.
  return timeZone !== 'Etc/Unknown' && /^[A-Za-z0-9_+/-]{1,64}$/.test(timeZone) ? timeZone : undefined
}

/** In which time zone a screen shows times, as a sentence. */
export function timeZoneText(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  if (timeZone === 'Etc/Unknown') return 'Times are in UTC: your browser does not know your time zone.'
  return `Times are in your time zone, ${timeZone}.`
}
