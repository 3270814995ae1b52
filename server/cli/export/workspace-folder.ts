import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, OperationResult, Problem, Schemas } from '../../../client/index.ts'
import { makePrivateFolder, writePrivateFile } from '../../storage/private-file.ts'
import { allItems, dataOf } from '../replies.ts'
import { begunAt, erasedCustomers, LOOK_MS } from './erased-customers.ts'
import { removeLines } from './export-file.ts'

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

/**
 * Writes what the lists of events and customers do not contain: the journeys, the enrolments and the event definitions. It
 * runs last, so that these files contain everything that the others refer to; what belongs to customers who were erased
 * or to journeys that were removed since the others were written is removed from them.
 * @returns how many lines were removed
 */
export async function writeJourneys(
  client: Client,
  folder: string,
  signal: AbortSignal,
): Promise<{ events: number; customers: number }> {
  makePrivateFolder(folder)
  const definitions = await allItems((query) => client.listEventDefinitions({ query, signal }))
  const journeys: Schemas['Journey'][] = []
  const enrolments: Enrolment[] = []
  for (const journey of await allItems((query) => client.listJourneys({ query, signal }))) {
    const found = await enrolmentsIn(client, journey.journey_id, signal)
    if (!found) continue
    journeys.push(journey)
    enrolments.push(...found)
  }
  const erased = await erasedCustomers(client, signal)
  const known = new Set(journeys.map(({ journey_id }) => journey_id))
  const isRemoved = ({ customer_id = '', journey_id }: { customer_id?: string; journey_id?: string }) =>
    erased.has(customer_id) || (journey_id !== undefined && !known.has(journey_id))
  const removed = {
    events: await removeLines(join(folder, WORKSPACE_FILES.events), isRemoved, signal),
    customers: await removeLines(join(folder, WORKSPACE_FILES.customers), isRemoved, signal),
  }
  // In order of creation.
  const kept = enrolments.filter((enrolment) => !isRemoved(enrolment))
  write(folder, 'enrolments', kept.reverse())
  // Without counts.
  const defined = definitions.map(({ not_conforming: _, ...definition }) => definition)
  write(folder, 'definitions', defined.reverse())
  write(folder, 'journeys', journeys.reverse())
  return removed
}

/** Returns the enrolments in a journey, newest first; undefined if it was removed meanwhile. */
async function enrolmentsIn(
  client: Client,
  journey_id: string,
  signal: AbortSignal,
): Promise<Enrolment[] | undefined> {
  const path = { journey_id }
  let isRemoved = false
  const noted = <Answer extends { error?: Problem | undefined }>(answer: Answer): Answer => {
    isRemoved ||= answer.error?.code === 'journey_not_found'
    return answer
  }
  try {
    await untilCounted(async () => noted(await client.getJourneyReport({ path, signal })), signal)
    const customers = await allItems(async (query) =>
      noted(await client.listJourneyCustomers({ path, query, signal })),
    )
    return customers.map(({ customer_id, client_customer_id, customer_type, customer_name }) => {
      return { journey_id, customer_id, client_customer_id, customer_type, customer_name }
    })
  } catch (error) {
    if (isRemoved) return undefined
    throw error
  }
}

/** Waits until every customer initialized so far is in the journey's lists. */
async function untilCounted(
  report: () => Promise<OperationResult<'getJourneyReport'>>,
  signal: AbortSignal,
): Promise<void> {
  let begun_ms: number | undefined
  for (;;) {
    const answer = await report()
    const { as_of } = dataOf(answer)
    // By the server's clock.
    begun_ms ??= begunAt(answer.response)
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
