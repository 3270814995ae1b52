import { clearLine, cursorTo } from 'node:readline'
import { type Output, widthOf } from '../command-io.ts'
import { countText } from '../table.ts'
import type { Delivery } from './delivery.ts'
import type { Importer } from './importer.ts'

/** Interval of redraws on a terminal, and of lines on any other output. */
const REDRAW_MS = 200
const LINE_MS = 5_000

/** Rates are averaged over this time: long enough to be steady, short enough to follow a change. */
const WINDOW_MS = 15_000

/** Minimum and maximum width of a terminal's progress bar. With less space there is none. */
const BAR_WIDTHS = { least: 8, greatest: 24 }

export type ProgressOptions = {
  output: Output
  importer: Importer
  delivery: Delivery
  /** Undefined if the size is unknown. */
  size_bytes: number | undefined
}

/**
 * Shows the progress of the import: one line that is redrawn on a terminal, otherwise a new line every few seconds.
 * @returns a function that stops it
 */
export function showProgress(options: ProgressOptions): () => void {
  const { output } = options
  const samples = [sampleOf(options)]
  const show = () => {
    const now = sampleOf(options)
    samples.push(now)
    while (samples.length > 2 && now.at_ms - (samples[0]?.at_ms ?? 0) > WINDOW_MS) samples.shift()
    const text = describe(options, samples[0] ?? now, now)
    if (!output.isTTY) {
      output.write(`${text}\n`)
      return
    }
    const width = widthOf(output)
    cursorTo(output, 0)
    output.write(`${bar(options, width - text.length)}${text}`.slice(0, width - 1))
    clearLine(output, 1)
  }
  const timer = setInterval(show, output.isTTY ? REDRAW_MS : LINE_MS)
  return () => {
    clearInterval(timer)
    if (!output.isTTY) return
    cursorTo(output, 0)
    clearLine(output, 1)
  }
}

type Sample = { at_ms: number; read_bytes: number; settled: number }

function sampleOf({ importer }: ProgressOptions): Sample {
  const { read_bytes, created, duplicate, refused } = importer.counts
  return { at_ms: performance.now(), read_bytes, settled: created + duplicate + refused }
}

function describe({ importer, delivery, size_bytes }: ProgressOptions, from: Sample, now: Sample): string {
  const { created, duplicate, refused } = importer.counts
  const seconds = Math.max(0.001, (now.at_ms - from.at_ms) / 1000)
  const bytesPerSecond = (now.read_bytes - from.read_bytes) / seconds
  const parts = [`${created} created`]
  if (duplicate > 0) parts.push(countText(duplicate, 'duplicate'))
  if (refused > 0) parts.push(`${refused} refused`)
  parts.push(`${Math.round((now.settled - from.settled) / seconds)}/s`)
  if (size_bytes !== undefined) {
    parts.unshift(`${percent(now.read_bytes, size_bytes)} %`)
    if (bytesPerSecond > 0) parts.push(`${clock((size_bytes - now.read_bytes) / bytesPerSecond)} left`)
  }
  if (delivery.isWaitingForServer) parts.push('waiting for the server')
  else if (delivery.pace.isHeld) parts.push(`delayed by the rate limit${rateText(delivery)}`)
  return parts.join(', ')
}

/** Describes the key's rate limit; empty if unknown. */
export function rateText({ pace }: Delivery): string {
  return pace.perSecond === undefined ? '' : ` of ${pace.perSecond} events/s`
}

function bar({ importer, size_bytes }: ProgressOptions, room: number): string {
  const width = Math.min(BAR_WIDTHS.greatest, room - '[] '.length - 1)
  if (size_bytes === undefined || width < BAR_WIDTHS.least) return ''
  const filled = Math.floor((percent(importer.counts.read_bytes, size_bytes) / 100) * width)
  return `[${'#'.repeat(filled)}${' '.repeat(width - filled)}] `
}

/** At most 100, because a file may grow while it is read. */
function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.min(100, Math.floor((part / whole) * 100))
}

/** Formats seconds as h:mm:ss or m:ss. */
function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}
