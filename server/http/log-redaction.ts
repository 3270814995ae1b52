import type { Fault } from '../problems.ts'

/** Paths that are not operations. */
const OTHER_PATHS = [
  ...['/v1/openapi.yaml', '/healthz', '/readyz', '/metrics', '/admin/assets'],
  ...['/docs/problems', '/docs/operations', '/docs/postgres', '/docs/backup-and-restore', '/docs/monitoring'],
  ...['/docs/import-and-export', '/docs/privacy'],
]

/** Maximum segments of a path; none of ours is as long. */
const PATH_SEGMENTS = 8

/**
 * Returns a function that redacts paths for the log: by mistake a caller may put a key anywhere into it.
 * @param paths those of the contract, with parameters as `:name`
 * @returns keeps known segments of a request target, replaces others with `*`, and removes the query
 */
export function loggedPaths(paths: readonly string[]): (target: string) => string {
  const known = new Set([...paths, ...OTHER_PATHS].flatMap((path) => path.split('/')))
  return (target) => {
    const [path = ''] = target.split(/[?#]/, 1)
    const segments = path.split('/', PATH_SEGMENTS).map((segment) => (known.has(segment) ? segment : '*'))
    return segments.join('/')
  }
}

/** Maximum faults in a log line; the response has more. */
const LOGGED_FAULTS = 5

/** Maximum segments of a pointer; no pointer of the contract is as deep. */
const POINTER_SEGMENTS = 8

/** The position of a fault in a request, and what is wrong there. */
export type LoggedFault = { pointer?: string; parameter?: string; detail: string }

type Schema = { properties?: Record<string, unknown>; in?: string; name?: string }

/**
 * Returns a function that redacts faults for the log: by mistake a caller may send a key or personal data as a field
 * name.
 * @param document the contract
 * @returns keeps the contract's names and the indexes of list items, replaces other names with `*`, and never adds a
 *   value
 */
export function loggedFaults(document: unknown): (faults: readonly Fault[]) => LoggedFault[] {
  const known = namesOf(document)
  const shown = (name: string) => (known.has(name) ? name : '*')
  return (faults) =>
    faults.slice(0, LOGGED_FAULTS).map(({ pointer, parameter, detail }) => {
      if (pointer === undefined) return { parameter: shown(parameter ?? ''), detail }
      const segments = pointer.split('/', POINTER_SEGMENTS)
      // Only after a name of the contract: among a caller's names a number may be personal data.
      const isIndex = (at: number) => /^\d{1,4}$/.test(segments[at] ?? '') && isList(segments[at - 1] ?? '')
      const redacted = segments.map((segment, at) =>
        segment === '' || isIndex(at) ? segment : shown(segment),
      )
      return { pointer: redacted.join('/'), detail }
    })

  function isList(name: string): boolean {
    return known.get(name) === true
  }
}

/** Returns the names of fields and parameters, and whether a field is a list. */
function namesOf(document: unknown): Map<string, boolean> {
  const names = new Map<string, boolean>()
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { properties, in: place, name }: Schema = value
    if (typeof place === 'string' && typeof name === 'string') names.set(name, names.get(name) ?? false)
    for (const [field, schema] of Object.entries(properties ?? {})) {
      const isList = Object(schema).type === 'array' || names.get(field) === true
      names.set(field, isList)
    }
    Object.values(value).forEach(visit)
  }
  visit(document)
  return names
}
