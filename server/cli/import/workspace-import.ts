import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fsyncSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Client, Schemas } from '../../../client/index.ts'
import { isJsonObject, parseJsonText } from '../../domain/json-text.ts'
import { openPrivateFile } from '../../storage/private-file.ts'
import { Unreachable } from '../api-client.ts'
import { endOf } from '../export/export-file.ts'
import { type Enrolment, WORKSPACE_FILES } from '../export/workspace-folder.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { readLines } from '../lines.ts'
import { dataOf } from '../replies.ts'
import { countText, quoted } from '../table.ts'

/** The old and new identifier of a journey or customer. */
type Renamed = { kind: 'journey' | 'customer'; old: string; new: string }

export type WorkspaceImportOptions = {
  /** May repeat requests, and aborts them with the signal. */
  client: Client
  /** Creates journeys; must not do so twice. */
  creator: Client
  /** Stops it before the next journey: one that was created without being noted would be created again. */
  signal: AbortSignal
  folder: string
  tablePath: string
}

/**
 * An import of an exported workspace into another one, which must not have its journeys yet. Identifiers are new; a
 * table maps the old ones to them. Journeys in the table were created by an earlier run.
 */
export class WorkspaceImport {
  /** Events whose customer or journey the export does not have: it was erased or removed meanwhile. */
  skipped = 0
  readonly #client: Client
  readonly #creator: Client
  readonly #signal: AbortSignal
  readonly #folder: string
  readonly #tablePath: string
  readonly #journeys = new Map<string, string>()
  /** By their old identifiers. */
  readonly #customers = new Map<string, Omit<Enrolment, 'journey_id' | 'customer_id'>>()

  constructor({ client, creator, signal, folder, tablePath }: WorkspaceImportOptions) {
    this.#client = client
    this.#creator = creator
    this.#signal = signal
    this.#folder = folder
    this.#tablePath = tablePath
  }

  /**
   * Creates the journeys.
   * @throws {CommandFailure} if the export is incomplete, if the key belongs to the exported workspace, if the table is
   *   that of an import into another one, or if the server refuses a request
   */
  async makeJourneys(): Promise<void> {
    await endOf(join(this.#folder, WORKSPACE_FILES.events))
    const enrolments = join(this.#folder, WORKSPACE_FILES.enrolments)
    if (!existsSync(enrolments)) {
      throw new CommandFailure(`the file ${enrolments} does not exist`, ExitCode.conflict)
    }
    for (const renamed of this.#table()) {
      if (renamed.kind !== 'journey') continue
      if (!(await this.#has(renamed.new))) {
        throw new CommandFailure(
          `${this.#tablePath} is the table of an import into another workspace. Use a key of that workspace, or move the table away to import into this one.`,
          ExitCode.conflict,
        )
      }
      this.#journeys.set(renamed.old, renamed.new)
    }
    for await (const journey of this.#items<Schemas['Journey']>('journeys')) {
      const { journey_id, name, description, steps, status } = journey
      const known = this.#journeys.get(journey_id)
      if (known !== undefined) {
        // An earlier run may have finished and archived it.
        if (status === 'archived') dataOf(await this.#client.restoreJourney({ path: { journey_id: known } }))
        continue
      }
      if (await this.#has(journey_id)) {
        throw new CommandFailure(
          'The key belongs to the exported workspace. Use a secret key of the workspace to import into.',
          ExitCode.conflict,
        )
      }
      this.#signal.throwIfAborted()
      const made = dataOf(await this.#create({ name, description, steps }))
      this.#journeys.set(journey_id, made.journey_id)
      this.#note({ kind: 'journey', old: journey_id, new: made.journey_id })
    }
  }

  /** The request is not repeated: if only its response was lost, there would be two journeys. */
  async #create(body: Schemas['JourneyCreation']) {
    return await this.#creator.createJourney({ body }).catch((error: unknown) => {
      if (!(error instanceof Unreachable)) throw error
      const advice = 'Look whether it exists and remove it before you run the same command again'
      throw new CommandFailure(
        `${error.message}; the journey ${quoted(body.name)} may have been created. ${advice}`,
      )
    })
  }

  async #has(journey_id: string): Promise<boolean> {
    const answer = await this.#client.getJourney({ path: { journey_id } })
    return answer.error?.code === 'journey_not_found' ? false : dataOf(answer) !== undefined
  }

  /** Returns the lines of a file to import: the enrolments and the events. */
  lines(): Readable {
    return Readable.from(this.#lines())
  }

  /**
   * Finishes an import without refused lines: defines the events, archives the journeys that were archived, sets their
   * retention, and records the new identifiers of the customers.
   */
  async finish(): Promise<void> {
    await this.#define()
    for await (const journey of this.#items<Schemas['Journey']>('journeys')) {
      const { status, retention_days } = journey
      const path = { journey_id: this.#newJourney(journey.journey_id) }
      // An export of an earlier version does not have it.
      if (retention_days != null) {
        dataOf(await this.#client.updateJourney({ path, body: { retention_days } }))
      }
      if (status === 'archived') dataOf(await this.#client.archiveJourney({ path }))
    }
    const known = new Set(this.#table().map(({ old }) => old))
    const olds = new Map([...this.#customers].map(([old, customer]) => [keyOf(customer), old]))
    const body = dataOf(await this.#client.exportCustomers())
    for await (const customer of parsedLines<Schemas['Customer']>(
      Readable.fromWeb(body as never),
      'the export',
    )) {
      const old = 'customer_id' in customer ? olds.get(keyOf(customer)) : undefined
      if (old === undefined || known.has(old)) continue
      this.#note({ kind: 'customer', old, new: customer.customer_id })
    }
  }

  /** Defines the events as their newest revisions say. Events that were stored before may differ. */
  async #define() {
    // An export of an earlier version has no definitions.
    if (!existsSync(join(this.#folder, WORKSPACE_FILES.definitions))) return
    for await (const definition of this.#items<Schemas['EventDefinition']>('definitions')) {
      const { event_id, description, mode, variables } = definition
      const answer = await this.#client.defineEvent({ body: { event_id, description, mode, variables } })
      // An earlier run may have defined it.
      if (answer.error?.code !== 'event_already_defined') dataOf(answer)
    }
  }

  async *#lines(): AsyncGenerator<Buffer> {
    for await (const enrolment of this.#items<Enrolment>('enrolments')) {
      const { journey_id, customer_id, ...customer } = enrolment
      this.#customers.set(customer_id, customer)
      yield lineOf({ journey_id: this.#newJourney(journey_id), ...customer })
    }
    for await (const event of this.#items<Schemas['Event']>('events')) {
      const { id, journey_id, customer_id, event_id, custom_variables, occurred_at, message_id } = event
      const customer = this.#customers.get(customer_id)
      const newJourney = this.#journeys.get(journey_id)
      if (!customer || newJourney === undefined) {
        this.skipped += 1
        continue
      }
      const line = {
        journey_id: newJourney,
        ...customer,
        event_id,
        ...(custom_variables !== null && { custom_variables }),
        // For an event sent without one, it is the time of receipt, which would be different here.
        occurred_at,
        // An event without one gets an idempotency key that is the same in every run.
        message_id: message_id ?? `export:${id}`,
      }
      yield lineOf(line)
    }
  }

  #newJourney(old: string): string {
    const journey_id = this.#journeys.get(old)
    if (journey_id === undefined) throw new CommandFailure(`the export has no journey ${old}`)
    return journey_id
  }

  async *#items<Item extends object>(list: keyof typeof WORKSPACE_FILES): AsyncGenerator<Item> {
    const path = join(this.#folder, WORKSPACE_FILES[list])
    let items = 0
    let end: unknown
    for await (const item of parsedLines<Item>(createReadStream(path), path)) {
      if ('end' in item) {
        end = item.end
        continue
      }
      items += 1
      yield item
    }
    if (end === undefined)
      throw new CommandFailure(`${path} is incomplete: its last line is not an end marker`)
    if (end !== items) {
      throw new CommandFailure(`${path} is incomplete: it has ${countText(items, 'line')} instead of ${end}`)
    }
  }

  #table(): Renamed[] {
    if (!existsSync(this.#tablePath)) return []
    const lines = readFileSync(this.#tablePath, 'utf8').trimEnd().split('\n')
    try {
      return lines.map((line) => parseJsonText(line))
    } catch {
      throw new CommandFailure(`${this.#tablePath} is not a table of identifiers`, ExitCode.conflict)
    }
  }

  #note(renamed: Renamed) {
    const { O_WRONLY, O_APPEND, O_CREAT } = constants
    const descriptor = openPrivateFile(this.#tablePath, O_WRONLY | O_APPEND | O_CREAT)
    try {
      writeFileSync(descriptor, `${JSON.stringify(renamed)}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
}

/** @param name of the input, for errors */
async function* parsedLines<Item extends object>(input: Readable, name: string): AsyncGenerator<Item> {
  for await (const lines of readLines(input, () => {})) {
    for (const { number, bytes } of lines) {
      const item = parsedLine(String(bytes))
      if (!isJsonObject(item)) throw new CommandFailure(`line ${number} of ${name} is not a JSON object`)
      yield item as Item
    }
  }
}

function parsedLine(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return undefined
  }
}

function keyOf({ customer_type, client_customer_id }: Omit<Enrolment, 'journey_id' | 'customer_id'>): string {
  return `${customer_type} ${client_customer_id}`
}

function lineOf(item: object): Buffer {
  return Buffer.from(`${JSON.stringify(item)}\n`)
}
