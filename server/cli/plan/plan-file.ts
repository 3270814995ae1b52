import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CORE_SCHEMA, dump, load, mapTag, mergeTag } from 'js-yaml'
import type { Schemas } from '../../../client/index.ts'
import { contractFile } from '../../contract-file.ts'
import { type DefinedValue, definitionFaults } from '../../domain/event-definitions.ts'
import { isJsonObject } from '../../domain/json-text.ts'
import { contractDocument } from '../../http/checks/contract-document.ts'
import { errorText } from '../../storage/file-errors.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { assertReadable } from '../named-files.ts'

/** The definition of an event as a plan has it. */
export type PlannedEvent = { description: string; mode: Mode; variables: DefinedValue }
type Mode = Schemas['DefinitionMode']

/** All definitions of a workspace, by event name. */
export type Plan = ReadonlyMap<string, PlannedEvent>

const HEADER = `# The event definitions of a workspace: cairn plan pull writes this file, cairn plan diff compares the workspace with
# it, and cairn plan push changes the workspace.
`

/** Writes a plan as YAML, sorted by name, so that equal plans are equal texts. */
export function planText(plan: Plan): string {
  const names = [...plan.keys()].sort((a, b) => (a < b ? -1 : 1))
  const events = new Map(names.map((name) => [name, plan.get(name)]))
  return HEADER + dump({ events: Object.fromEntries(events) }, { lineWidth: 120, noRefs: true })
}

/**
 * Reads a plan.
 * @throws {CommandFailure} with every fault, if the file does not exist, is no YAML, or has a definition that the contract
 *   does not allow
 */
export function readPlan(file: string): Plan {
  const { events } = fieldsOf(parsed(file), file, { events: 'object' })
  if (events === undefined) throw new CommandFailure(`${file} must have events`, ExitCode.usage)
  const faults: string[] = []
  const plan = new Map<string, PlannedEvent>()
  const assertAllowed = contractCheck()
  for (const [name, event] of Object.entries(events as object)) {
    try {
      plan.set(name, plannedEvent(event, name, assertAllowed))
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  if (faults.length > 0) throw new CommandFailure(`${file}:\n${faults.join('\n')}`, ExitCode.usage)
  return plan
}

/** YAML 1.2 with merge keys (`<<`). Names are text: as a number, `1e3` would become the event `1000`. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag, {
  ...mapTag,
  addPair: (object, name, value) =>
    typeof name === 'string'
      ? mapTag.addPair(object, name, value)
      : `YAML reads this name as ${JSON.stringify(name)}, not as text; quote it`,
})

function parsed(file: string): unknown {
  assertReadable(file)
  try {
    return load(readFileSync(file, 'utf8'), { schema: SCHEMA })
  } catch (error) {
    throw new CommandFailure(`cannot read ${file}: ${errorText(error)}`, ExitCode.usage)
  }
}

const MODES: readonly string[] = ['off', 'warn', 'enforce'] satisfies Mode[]

function plannedEvent(event: unknown, name: string, assertAllowed: AssertAllowed): PlannedEvent {
  const types = { description: 'string', mode: 'string', variables: 'object' } as const
  const fields = fieldsOf(event ?? {}, name, types)
  const { description = '', mode = 'warn', variables = { type: 'object' } } = fields
  if (!MODES.includes(String(mode))) throw new Error(`${name}: mode must be one of ${MODES.join(', ')}`)
  const planned = { description, mode, variables } as PlannedEvent
  assertAllowed({ event_id: name, ...planned })
  const [fault] = definitionFaults(planned.variables)
  if (fault) throw new Error(`${name}: variables${fault.pointer} ${fault.detail}`)
  return planned
}

type AssertAllowed = (definition: PlannedEvent & { event_id: string }) => void

/**
 * Prepares the contract's check of a new definition. Without it, `diff` would call additive what `push` cannot make, after it
 * has made other changes.
 */
function contractCheck(): AssertAllowed {
  const { components } = contractDocument(readFileSync(contractFile, 'utf8'))
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    validateFormats: false,
  })
  ajv.addSchema({ $id: 'contract', components })
  const isAllowed = ajv.compile({ $ref: 'contract#/components/schemas/EventDefinitionCreation' })
  return (definition) => {
    const { event_id } = definition
    if (isAllowed(definition)) return
    const { instancePath = '', message = '', params } = isAllowed.errors?.[0] ?? {}
    const unknown: unknown = params?.additionalProperty
    const fault = unknown === undefined ? message : `must not have ${unknown}`
    throw new Error(`${event_id}: ${instancePath.slice(1)} ${fault}`)
  }
}

/** Returns the fields of an object, which has no others. */
function fieldsOf(
  value: unknown,
  place: string,
  types: Readonly<Record<string, 'string' | 'object'>>,
): Record<string, unknown> {
  if (!isJsonObject(value))
    throw new CommandFailure(`${place} must have ${Object.keys(types).join(', ')}`, ExitCode.usage)
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(types, name))
      throw new CommandFailure(`${place}: ${name} is not known`, ExitCode.usage)
    const isRight = types[name] === 'object' ? isJsonObject(field) : typeof field === 'string'
    const right = types[name] === 'object' ? 'an object' : 'a string'
    if (!isRight) throw new CommandFailure(`${place}: ${name} must be ${right}`, ExitCode.usage)
  }
  return value
}
