import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { pointerTo } from '../../server/domain/pointers.ts'
import { redocly } from './redocly.ts'

/** A change of the contract that can break callers of the previous version. */
export type Finding = {
  /** JSON Pointer into the new contract, or into the old one for what was removed. */
  place: string
  change: string
  /** Why callers break. */
  reason: string
}

/** A difference as `redocly diff` reports it. */
type Change = {
  /** JSON Pointer with all references followed. */
  path: string
  /** The type at that position, for example `Schema` or `Header`. */
  typeName: string
  kind: 'added' | 'removed' | 'modified'
  /** The property that was modified; `key` for its own name. */
  property?: string
  /** Empty if the change is rated harmless. */
  verdicts: { ruleId: string; message: string }[]
  base?: Side
  revision?: Side
}
type Side = { pointer: string; value?: unknown }

type Requirement = Record<string, string[]>
type Operation = { security?: Requirement[] }
type Contract = { security?: Requirement[]; paths?: Record<string, Record<string, Operation>> }

const OPTIONS = ['--config', 'test/contract/redocly.yaml', '--format', 'json', '--fail-on', 'none']

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** Enumerations whose descriptions say that values may be added. */
const OPEN_ENUMERATIONS = [
  '#/components/schemas/ProblemCode/enum',
  '#/components/schemas/EventProblem/properties/code/enum',
  '#/components/schemas/AuditArea/enum',
  '#/components/schemas/AuditAction/enum',
]

/** One reason per rule of `redocly diff`. */
const REASONS: Record<string, string> = {
  'path-removed': 'Requests to it are answered with 404.',
  'operation-removed': 'Requests to it are answered with 404 or 405.',
  'operation-id-changed': 'Generated clients name a function after it.',
  'server-removed': 'Callers have it as their base URL.',
  'parameter-removed': 'Requests that send it are refused, because it is not known.',
  'parameter-became-required': 'Requests without it, complete so far, are refused.',
  'parameter-serialization-changed': 'Callers write its value in the old way.',
  'request-body-removed': 'Callers send a body that nothing reads.',
  'request-body-became-required': 'Requests without it, complete so far, are refused.',
  'required-properties-added': 'Requests without it, complete so far, are refused.',
  'enum-values-removed': 'Requests with a value that is gone are refused.',
  'response-removed': 'Callers tell what happened by the status.',
  'response-header-removed': 'Callers read it.',
  'required-properties-removed': 'Callers read it without a look whether it is there.',
  'enum-values-added': 'Callers tell the values of a reply apart and do not know the new one.',
  'property-removed': 'Callers read it, or send it and are refused, because it is not known.',
  'media-type-removed': 'Callers send or read this format.',
  'schema-type-changed': 'Callers send a type that is refused, or read one that they do not expect.',
  'schema-constraint-changed': 'Callers send a value that is refused, or read one that they do not expect.',
  'schema-combinator-changed': 'Callers send a value that is refused, or read one that they do not expect.',
  'security-scheme-changed': 'Callers present their credential in the old way.',
}

/**
 * Compares two contracts.
 * @param base file with the contract that callers use
 * @param next file with the contract that is to replace it
 * @returns the changes that can break callers; empty if every change is additive
 * @throws {Error} if a file cannot be read as a contract
 */
export async function breakingChanges(base: string, next: string): Promise<Finding[]> {
  const { exitCode, stdout, stderr } = await redocly(['diff', base, next, ...OPTIONS])
  if (exitCode !== 0) throw new Error(stderr)
  const changes: Change[] = JSON.parse(stdout).changes
  return [...changes.flatMap(findings), ...lostCredentials(contractIn(base), contractIn(next))]
}

function findings(change: Change): Finding[] {
  const place = change.revision?.pointer ?? change.base?.pointer ?? change.path
  const verdicts = change.verdicts.filter(({ ruleId }) => !isAdditive(ruleId, change))
  if (verdicts.length === 0) {
    const found = overlooked(change)
    return found ? [{ place, change: found[0], reason: found[1] }] : []
  }
  return verdicts.map(({ ruleId, message }) => {
    return { place, change: message, reason: REASONS[ruleId] ?? `See the rule ${ruleId} of redocly diff.` }
  })
}

/** Whether a rule of `redocly diff` is stricter than this contract's promise. */
function isAdditive(ruleId: string, { property = '', base, revision }: Change): boolean {
  const before = base?.value
  const after = revision?.value
  if (ruleId === 'enum-values-added') {
    return OPEN_ENUMERATIONS.includes(base?.pointer ?? '') && after !== undefined
  }
  if (ruleId !== 'schema-constraint-changed') return false
  // Limits may widen in responses too: identifiers can grow, as the contract says, and the caller chooses page sizes.
  if (!/^(min|max)(imum|Length|Items|Properties)$/.test(property) || typeof before !== 'number') return false
  if (typeof after !== 'number') return true
  return property.startsWith('max') ? after > before : after < before
}

/** Returns what changed and why callers break, for changes that `redocly diff` rates harmless. */
function overlooked({
  kind,
  typeName,
  property,
  path,
  base,
  revision,
}: Change): [string, string] | undefined {
  const before = base?.value
  const after = revision?.value
  const name = path.slice(path.lastIndexOf('/') + 1)
  const isComponent = path.startsWith('#/components/')
  const isNamedSchema = path === `#/components/schemas/${name}`
  switch (kind === 'modified' ? `${typeName} ${property}` : `${typeName} ${kind}`) {
    case 'PathItem key':
      return [
        `Path \`${before}\` was renamed to \`${after}\`.`,
        'Generated clients name an argument after what stands in braces.',
      ]
    case 'Schema key':
      if (isNamedSchema) {
        return [
          `Schema \`${before}\` was renamed to \`${after}\`.`,
          'Generated clients name a type after it.',
        ]
      }
      return [`Property \`${before}\` was renamed to \`${after}\`.`, 'Callers send it and nothing reads it.']
    case 'Schema removed':
      if (isNamedSchema) return [`Schema \`${name}\` was removed.`, 'Generated clients name a type after it.']
      if (path.endsWith(`/properties/${name}`)) {
        return [`Property \`${name}\` was removed.`, 'Callers send it and nothing reads it.']
      }
      if (name !== 'schema') return undefined
      return ['The schema was removed.', 'Callers read a value that they do not expect.']
    case 'Schema default':
      return [
        `The default changed from ${shown(before)} to ${shown(after)}.`,
        'Requests that leave it out mean something else now.',
      ]
    case 'Schema enum': {
      if (!Array.isArray(before) || !Array.isArray(after)) return undefined
      const lost = before.filter((value) => !after.includes(value))
      if (lost.length === 0) return undefined
      return [
        `Enum lost values: ${lost.map(shown).join(', ')}.`,
        'Callers wait for a value that never comes.',
      ]
    }
    case 'Schema readOnly':
    case 'Schema writeOnly':
      if (after !== true) return undefined
      return [`It became \`${property}\`.`, 'Callers send it and are refused, or read it and find nothing.']
    case 'RequestBody added':
      if (isComponent || !isRequired(after)) return undefined
      return ['A required request body was added.', 'Requests without it, complete so far, are refused.']
    case 'Response added':
      if (isComponent || /^[45]/.test(name)) return undefined
      return [
        `Response \`${name}\` was added.`,
        'Callers wait for the other statuses and take it for a failure.',
      ]
    case 'Header required':
      if (before !== true) return undefined
      return [
        `Response header \`${name}\` is no longer required.`,
        'Callers read it without a look whether it is there.',
      ]
  }
  return undefined
}

/** Returns credentials that an operation accepted and no longer does. */
function lostCredentials(base: Contract, next: Contract): Finding[] {
  return Object.entries(base.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      const successor = next.paths?.[path]?.[method]
      if (!operation || !successor) return []
      const accepted = alternatives(next, successor)
      return alternatives(base, operation)
        .filter((credential) => !accepted.some((needed) => isEnough(credential, needed)))
        .map((credential) => ({
          place: `#${pointerTo(pointerTo('/paths', path), method)}/security`,
          change: `${Object.keys(credential).join(' with ') || 'No credential'} is no longer accepted.`,
          reason: 'Requests that were allowed are answered with 401 or 403.',
        }))
    }),
  )
}

/** Returns the alternative credentials of an operation; an empty one if it needs none. */
function alternatives(contract: Contract, operation: Operation): Requirement[] {
  const list = operation.security ?? contract.security ?? []
  return list.length > 0 ? list : [{}]
}

function isEnough(credential: Requirement, needed: Requirement): boolean {
  return Object.entries(needed).every(
    ([scheme, scopes]) =>
      scheme in credential && scopes.every((scope) => credential[scheme]?.includes(scope)),
  )
}

function contractIn(file: string): Contract {
  return load(readFileSync(file, 'utf8')) as Contract
}

function isRequired(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'required' in value && value.required === true
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value)
}
