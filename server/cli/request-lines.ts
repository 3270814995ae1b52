import { Writable } from 'node:stream'
import { type ProblemCode, problems } from '../problems.ts'

/** A log entry of a request (`request-log.ts`), or of anything else. */
type Logged = {
  time: number
  msg?: string
  err?: { message: string }
  method?: string
  path?: string
  operation?: string
  status?: number | 'aborted'
  code?: ProblemCode
  errors?: { pointer?: string; parameter?: string; detail: string }[]
  rejected?: Partial<Record<ProblemCode, number>>
  duration_ms?: number
}

/** Returns a stream that turns log entries into readable lines. */
export function requestLines(write: (line: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      write(`${readable(JSON.parse(line))}\n`)
      done()
    },
  })
}

/**
 * Formats a log entry, for example `20:51:07.123  409  createEvent  3 ms  journey_archived: Restore the journey, …`.
 */
export function readable(logged: Logged): string {
  const { time, msg, err, method, path, operation, status, duration_ms = 0 } = logged
  const at = new Date(time).toTimeString().slice(0, 8) + new Date(time).toISOString().slice(19, 23)
  if (status === undefined) return [at, msg, err?.message].filter((part) => part !== undefined).join('  ')
  const what = operation ?? `${method} ${path}`
  return [at, status, what, `${Math.round(duration_ms)} ms`, ...reasons(logged)].join('  ')
}

function reasons({ code, errors = [], rejected = {} }: Logged): string[] {
  const faults = errors.map(
    ({ pointer, parameter, detail }) => `${parameter ?? (pointer || 'body')}: ${detail}`,
  )
  const items = Object.entries(rejected).map(([code, count]) => `${count} rejected, ${reason(code)}`)
  if (code === undefined) return items
  return [faults.length > 0 ? `${code}: ${faults.join('; ')}` : reason(code)]
}

function reason(code: string): string {
  const known = problems[code as ProblemCode]
  return known ? `${code}: ${known.detail}` : code
}
