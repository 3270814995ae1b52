import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Schemas } from '../../../client/index.ts'
import { FOLDER_MODE, writePrivateFile } from '../../storage/private-file.ts'
import { allItems, dataOf } from '../replies.ts'

/** The files of an exported workspace. Each ends with a line that marks the end. */
export const WORKSPACE_FILES = {
  events: 'events.ndjson',
  customers: 'customers.ndjson',
  enrolments: 'enrolments.ndjson',
  definitions: 'event-definitions.ndjson',
  journeys: 'journeys.ndjson',
} as const

/** A customer's enrolment in a journey. */
export type Enrolment = Schemas['CustomerInitialization'] & { customer_id: string }

const LOOK_MS = 200

/**
 * Writes what the lists of events and customers do not contain: the journeys, the enrolments and the event definitions. It
 * runs last, so that these files contain everything that the others refer to.
 */
export async function writeJourneys(client: Client, folder: string, signal: AbortSignal): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  const journeys = await allItems((query) => client.listJourneys({ query, signal }))
  const definitions = await allItems((query) => client.listEventDefinitions({ query, signal }))
  const enrolments: Enrolment[] = []
  for (const { journey_id } of journeys) {
    await untilCounted(client, journey_id, signal)
    const path = { journey_id }
    const customers = await allItems((query) => client.listJourneyCustomers({ path, query, signal }))
    for (const { customer_id, client_customer_id, customer_type, customer_name } of customers) {
      enrolments.push({ journey_id, customer_id, client_customer_id, customer_type, customer_name })
    }
  }
  // In order of creation.
  write(folder, 'enrolments', enrolments.reverse())
  // Without counts.
  const defined = definitions.map(({ not_conforming: _, ...definition }) => definition)
  write(folder, 'definitions', defined.reverse())
  write(folder, 'journeys', journeys.reverse())
}

/** Waits until every customer initialized so far is in the journey's lists. */
async function untilCounted(client: Client, journey_id: string, signal: AbortSignal): Promise<void> {
  let begun_ms: number | undefined
  for (;;) {
    const answer = await client.getJourneyReport({ path: { journey_id }, signal })
    const { as_of } = dataOf(answer)
    // By the server's clock. The header has whole seconds.
    begun_ms ??= Date.parse(answer.response.headers.get('date') ?? '') + 1000
    if (as_of !== null && Date.parse(as_of) >= begun_ms) return
    await sleep(LOOK_MS, undefined, { signal })
  }
}

function write(folder: string, list: 'enrolments' | 'definitions' | 'journeys', items: readonly object[]) {
  const lines = [...items, { end: items.length, list }].map((item) => `${JSON.stringify(item)}\n`)
  writePrivateFile(join(folder, WORKSPACE_FILES[list]), lines.join(''))
}

/** Whether the folder contains a complete export of a workspace: its journeys are written last. */
export function isWorkspaceFolder(folder: string): boolean {
  return existsSync(join(folder, WORKSPACE_FILES.journeys))
}
