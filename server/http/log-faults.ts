import type { Fault } from '../problems.ts'

/** So many are told; the answer has more. */
const TOLD = 5

/** More of a pointer is cut off; none that the contract knows is as deep. */
const SEGMENTS = 8

/** Where a request was at fault, and what was wrong there. */
export type LoggedFault = { pointer?: string; parameter?: string; detail: string }

type Schema = { properties?: Record<string, unknown>; in?: string; name?: string }

/**
 * Makes faults fit for the log: a caller's mistake may have put a key, or anything of a customer, where a name should be.
 * @param document the contract
 * @returns gives the names that the contract has and the numbers of list items, `*` in place of any other, and never a value
 */
export function loggedFaults(document: unknown): (faults: readonly Fault[]) => LoggedFault[] {
  const known = namesOf(document)
  const shown = (name: string) => (known.has(name) ? name : '*')
  return (faults) =>
    faults.slice(0, TOLD).map(({ pointer, parameter, detail }) => {
      if (pointer === undefined) return { parameter: shown(parameter ?? ''), detail }
      const segments = pointer.split('/', SEGMENTS)
      // Only behind a name of ours: among the names of a caller a number may be anybody's.
      const isIndex = (at: number) => /^\d{1,4}$/.test(segments[at] ?? '') && isList(segments[at - 1] ?? '')
      const told = segments.map((segment, at) => (segment === '' || isIndex(at) ? segment : shown(segment)))
      return { pointer: told.join('/'), detail }
    })

  function isList(name: string): boolean {
    return known.get(name) === true
  }
}

/** The names of fields and parameters, and whether a field is a list. */
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
