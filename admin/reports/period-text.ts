import { dayText, instantText } from '../parts/instants/instant-text.ts'

/** A period in the viewer's time zone, the end exclusive: `1 Oct 2026 – 31 Oct 2026` if it is of whole days. */
export function periodText(from: string, to: string): string {
  const [start, end] = [new Date(from), new Date(to)]
  // Not by the hour: some days begin at one o’clock.
  const isOfDays = [start, end].every((at) => new Date(at).setHours(0, 0, 0, 0) === at.getTime())
  if (!isOfDays) return `${instantText(start)} – ${instantText(end)}`
  const last = new Date(end.getTime() - 1)
  return `${dayText(start)} – ${dayText(last)}`
}
