import type { Fault } from '../../problems.ts'

export type Parameter = { name: string; schema: { type?: unknown } }
/** A parameter of type array has the values of all its occurrences. */
export type Query = { values: Record<string, string | string[]>; faults: Fault[] }

/**
 * Parses the query by the contract's parameters. Reports as faults what the validator would accept or silently change:
 * unknown and repeated names, `0x10` as an integer, invalid percent-encoding.
 */
export function readQuery(url: string, parameters: Parameter[]): Query {
  const values: Query['values'] = {}
  const faults: Fault[] = []
  const start = url.indexOf('?')
  if (start === -1) return { values, faults }
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const rawName = equals === -1 ? pair : pair.slice(0, equals)
    const name = decode(rawName)
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1))
    const parameter = parameters.find((parameter) => parameter.name === name)
    if (name === undefined || !parameter) {
      faults.push({ detail: 'is not a parameter of this operation', parameter: shown(name ?? rawName) })
    } else if (value === undefined) {
      faults.push({ detail: 'must be percent-encoded UTF-8', parameter: name })
    } else if (parameter.schema.type === 'array') {
      values[name] = [...(values[name] ?? []), value]
    } else if (Object.hasOwn(values, name)) {
      faults.push({ detail: 'must appear only once', parameter: name })
    } else if (parameter.schema.type === 'integer' && !/^-?[0-9]{1,15}$/.test(value)) {
      faults.push({ detail: 'must be a decimal integer', parameter: name })
    } else {
      values[name] = value
    }
  }
  return { values, faults }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Returns a parameter's name in a form that a response may contain (contract: `Fault.parameter`). */
function shown(name: string): string {
  return name.slice(0, 255).toWellFormed().replaceAll('\0', '\ufffd')
}
