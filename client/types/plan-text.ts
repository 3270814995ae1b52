import { type DefinedValue, typesOf } from '../../server/domain/event-definitions.ts'
import type { JourneyEvent } from '../../server/domain/journey-events.ts'
import type { Plan } from './plan.ts'

/** The line after which the plan is embedded in the file, one JSON value per line. */
const MARK = '/* What these types were made from, for `cairn-client types --check`:'

/** A declaration file with the events of a journey. It contains the plan, so that a later one can be compared with it. */
export function planText({ journey_id, digest, events }: Plan): string {
  return [
    `// The events of the journey ${journey_id}. Made by \`npx cairn-client types\`; do not edit.`,
    `// Digest of the journey's contract: ${digest}`,
    '',
    '/** The events of the journey by name, with their variables. */',
    'export interface Events {',
    ...(events.length > 0 ? events.flatMap(eventLines) : [`  [event_id: string]: ${ANY_VARIABLES}`]),
    '}',
    '',
    MARK,
    // A comment ends at the first */; in JSON the slash can be escaped.
    ...[{ journey_id, digest }, ...events].map((part) => JSON.stringify(part).replaceAll('*/', '*\\/')),
    '*/',
    '',
  ].join('\n')
}

/** Returns the plan that the file was made from. @throws {Error} if there is none */
export function embeddedPlan(text: string): Plan {
  const lines = text.split(/\r?\n/)
  const start = lines.indexOf(MARK)
  const end = lines.indexOf('*/', start)
  if (start < 0 || end < 0) throw new Error('it was not made by `cairn-client types`')
  const [head, ...events] = lines.slice(start + 1, end).map((line) => JSON.parse(line))
  return { ...head, events }
}

/** Variables that are not defined: the contract's `CustomVariables`. */
const ANY_VARIABLES = '{ [name: string]: unknown } | string'

function eventLines({ event_id, description, variables }: JourneyEvent): string[] {
  const type = variables ? objectType(variables, '  ') : ANY_VARIABLES
  const said = [variables?.title, description, variables?.description]
  return [...commentLines(said, variables?.deprecated, '  '), `  ${nameText(event_id)}: ${type}`]
}

function typeText(value: DefinedValue, indent: string): string {
  const types = typesOf(value)
  if (value.enum) return unionOf(value.enum.map((one) => JSON.stringify(one)))
  if (value.type === undefined) return 'unknown'
  return unionOf(
    types.map((type) => {
      if (type === 'object') return objectType(value, indent)
      if (type === 'array') return `Array<${typeText(value.items ?? {}, indent)}>`
      return type === 'integer' ? 'number' : type
    }),
  )
}

function unionOf(types: string[]): string {
  return [...new Set(types)].join(' | ') || 'never'
}

function objectType({ properties, required, additionalProperties }: DefinedValue, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties ?? {}).flatMap(([name, value]) => {
    const mark = required?.includes(name) ? '' : '?'
    const said = [value.title, value.description, value.format && `Format: ${value.format}`]
    return [
      ...commentLines(said, value.deprecated, inner),
      `${inner}${nameText(name)}${mark}: ${typeText(value, inner)}`,
    ]
  })
  if (lines.length === 0) {
    return additionalProperties === false ? 'Record<string, never>' : '{ [name: string]: unknown }'
  }
  // Where a definition does not say that there may be others, a name that it does not have is taken for a mistake.
  if (additionalProperties === true) lines.push(`${inner}[name: string]: unknown`)
  return ['{', ...lines, `${indent}}`].join('\n')
}

function nameText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

/** Returns what is said as a comment that an editor shows. */
function commentLines(
  said: readonly (string | undefined)[],
  deprecated: boolean | undefined,
  indent: string,
): string[] {
  const text = [...said.filter(Boolean), ...(deprecated ? ['@deprecated'] : [])].join('\n\n')
  if (!text) return []
  const lines = text.replaceAll('*/', '*\\/').split(/\r\n|[\r\n\u2028\u2029]/)
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`]
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`]
}
