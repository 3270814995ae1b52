import type { Fault } from '../problems.ts'

/** Maximum faults in a log line; the response has more. */
const TOLD = 5

/** Maximum segments of a pointer; no pointer of the contract is as deep. */
const SEGMENTS = 8

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
    faults.slice(0, TOLD).map(({ pointer, parameter, detail }) => {
      if (pointer === undefined) return { parameter: shown(parameter ?? ''), detail }
      const segments = pointer.split('/', SEGMENTS)
      // Only after a name of the contract: among a caller's names a number may be personal data.
      const isIndex = (at: number) => /^\d{1,4}$/.test(segments[at] ?? '') && isList(segments[at - 1] ?? '')
      const told = segments.map((segment, at) => (segment === '' || isIndex(at) ? segment : shown(segment)))
      return { pointer: told.join('/'), detail }
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
