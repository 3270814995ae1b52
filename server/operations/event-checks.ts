import type { components } from '../../generated/contract.ts'
import { definitionCheck, meantText } from '../domain/definition-check.ts'
import { comparedValue, type DefinedValue } from '../domain/event-definitions.ts'
import { parseJsonText } from '../domain/json-text.ts'
import { NameIndex } from '../domain/name-index.ts'
import type { DefinitionRejection } from '../storage/events/event-store.ts'
import type { CheckedDefinition, CheckedDefinitions } from '../storage/tables/event-definitions.ts'

type EventCreation = components['schemas']['EventCreation']
type Violation = components['schemas']['Violation']
type Sent = Pick<EventCreation, 'event_id' | 'custom_variables'>

/** How an event differs from the definitions of its workspace. */
export type CheckedEvent = {
  /** At least one. */
  violations: Violation[]
  /** What it was compared with; undefined if its name has no definition. */
  definition?: { definition_id: string; revision: number; variables: DefinedValue }
  /** Why it is rejected if its message is not known; undefined if it is stored, with warnings. */
  breaks?: DefinitionRejection
}

/** Maximum size of the cached definitions, as JSON: those of eight workspaces that have as many as they can. */
const CACHED_BYTES = 32 * 1024 * 1024

/** Maximum workspaces cached. */
const CACHED_WORKSPACES = 10_000

/** Longest time for which a batch is checked without letting other requests run. */
const SLICE_MS = 2

type EventChecksOptions = {
  /** Reads what a workspace's events are checked by. */
  load: (workspaceId: string) => Promise<CheckedDefinitions>
  /** Lets other requests run. */
  pause: () => Promise<void>
  now: () => number
  cachedBytes?: number
}

/**
 * Checks events against the definitions of their workspace, which it caches.
 *
 * What is cached is valid as long as the workspace has the same `definition_changes`, which every key is cached with: the
 * cache of keys notices changes, also those of other processes, and this one needs no notification.
 */
export class EventChecks {
  readonly #options: Required<EventChecksOptions>
  /** By workspace; the least recently used first. */
  readonly #cached = new Map<string, WorkspaceCheck>()
  #bytes = 0
  readonly #loading = new Map<string, Promise<WorkspaceCheck>>()

  constructor(options: EventChecksOptions) {
    this.#options = { cachedBytes: CACHED_BYTES, ...options }
  }

  /**
   * Checks the events of a request.
   * @param changes the workspace's `definition_changes`, as its caller knows it; undefined: not known
   * @returns one per event, undefined if nothing is wrong with it; without any, if the workspace checks nothing
   */
  async check(
    workspaceId: string,
    changes: number | undefined,
    events: readonly Sent[],
  ): Promise<readonly (CheckedEvent | undefined)[]> {
    if (changes === 0) return NONE
    const check = await this.#current(workspaceId, changes)
    if (check.isEmpty) return NONE
    const { now, pause } = this.#options
    const now_ms = now()
    const checked: (CheckedEvent | undefined)[] = []
    let slice_ms = performance.now()
    for (const event of events) {
      checked.push(check.of(event, now_ms))
      if (performance.now() - slice_ms < SLICE_MS) continue
      await pause()
      slice_ms = performance.now()
    }
    return checked
  }

  async #current(workspaceId: string, changes: number | undefined): Promise<WorkspaceCheck> {
    const cached = this.#cached.get(workspaceId)
    // The caller may know less: its key was read before the latest change.
    if (cached && changes !== undefined && cached.changes >= changes) {
      this.#cached.delete(workspaceId)
      this.#cached.set(workspaceId, cached)
      return cached
    }
    const loading = this.#loading.get(workspaceId)
    if (loading) {
      const shared = await loading
      if (changes !== undefined && shared.changes >= changes) return shared
    }
    // One that has begun since then is new enough.
    return await (this.#loading.get(workspaceId) ?? this.#load(workspaceId))
  }

  #load(workspaceId: string): Promise<WorkspaceCheck> {
    const loading = this.#options
      .load(workspaceId)
      .then((definitions) => {
        const check = new WorkspaceCheck(definitions)
        this.#keep(workspaceId, check)
        return check
      })
      .finally(() => this.#loading.delete(workspaceId))
    this.#loading.set(workspaceId, loading)
    return loading
  }

  #keep(workspaceId: string, check: WorkspaceCheck) {
    this.#drop(workspaceId)
    this.#cached.set(workspaceId, check)
    this.#bytes += check.bytes
    for (const oldest of this.#cached.keys()) {
      if (this.#bytes <= this.#options.cachedBytes && this.#cached.size <= CACHED_WORKSPACES) break
      this.#drop(oldest)
    }
  }

  #drop(workspaceId: string) {
    this.#bytes -= this.#cached.get(workspaceId)?.bytes ?? 0
    this.#cached.delete(workspaceId)
  }
}

const NONE: readonly undefined[] = []

type Check = { variables: DefinedValue; violationsOf: (value: unknown) => Violation[] }

/** A definition whose JSON is parsed when it is first needed. */
type DefinitionUse = { definition: CheckedDefinition; newest?: Check; before?: Check }

/** The check of one workspace's events. */
class WorkspaceCheck {
  /** See `CheckedDefinitions`. */
  readonly changes: number
  /** Whether every event passes. */
  readonly isEmpty: boolean
  readonly bytes: number
  readonly #unknownEvents: CheckedDefinitions['unknown_events']
  readonly #definitions: ReadonlyMap<string, DefinitionUse>
  /** Made when the first unknown name arrives. */
  #names: NameIndex | undefined

  constructor({ changes, unknown_events, definitions }: CheckedDefinitions) {
    this.changes = changes
    this.#unknownEvents = unknown_events
    this.#definitions = new Map(definitions.map((definition) => [definition.event_id, { definition }]))
    this.isEmpty = unknown_events === 'allow' && definitions.every(({ mode }) => mode === 'off')
    this.bytes = OTHER_BYTES
    for (const { event_id, variables, previous } of definitions) {
      this.bytes += OTHER_BYTES + event_id.length + variables.length + (previous?.variables.length ?? 0)
    }
  }

  of({ event_id, custom_variables }: Sent, now_ms: number): CheckedEvent | undefined {
    const use = this.#definitions.get(event_id)
    if (!use) return this.#ofUnknown(event_id)
    const { definition_id, revision, mode } = use.definition
    if (mode === 'off') return undefined
    const value = comparedValue(custom_variables)
    use.newest ??= checkOf(use.definition.variables)
    const { variables, violationsOf } = use.newest
    const violations = violationsOf(value)
    if (violations.length === 0) return undefined
    const isAccepted = mode === 'warn' || isAsBefore(use, value, now_ms)
    const checked = { violations, definition: { definition_id, revision, variables } }
    return isAccepted ? checked : { ...checked, breaks: 'event_not_as_defined' }
  }

  #ofUnknown(event_id: string): CheckedEvent | undefined {
    if (this.#unknownEvents === 'allow') return undefined
    this.#names ??= new NameIndex(this.#definitions.keys())
    const meant = this.#names.nearest(event_id)
    const violation: Violation = {
      code: 'unknown_event',
      pointer: '/event_id',
      detail: meantText('is not a defined event', meant),
      expected: 'a defined event',
      found: 'string',
      ...(meant !== undefined && { did_you_mean: meant }),
    }
    const violations = [violation]
    return this.#unknownEvents === 'warn' ? { violations } : { violations, breaks: 'unknown_event' }
  }
}

/** Approximate size of a definition besides its texts. */
const OTHER_BYTES = 200

/** Whether variables conform to the revision before the newest, while that is accepted too. */
function isAsBefore(use: DefinitionUse, value: unknown, now_ms: number): boolean {
  const { previous } = use.definition
  if (!previous || previous.until_ms <= now_ms) return false
  use.before ??= checkOf(previous.variables)
  return use.before.violationsOf(value).length === 0
}

function checkOf(json: string): Check {
  const variables: DefinedValue = parseJsonText(json)
  return { variables, violationsOf: definitionCheck(variables) }
}
