import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Problem, Schemas } from '../../../client/index.ts'
import { FOLDER_MODE, writePrivateFile } from '../../storage/private-file.ts'
import { CommandFailure } from '../failure.ts'

/** The files of an exported workspace, each ending with a line that says so. */
export const WORKSPACE_FILES = {
  events: 'events.ndjson',
  customers: 'customers.ndjson',
  enrolments: 'enrolments.ndjson',
  journeys: 'journeys.ndjson',
} as const

/** Who takes part in a journey. */
export type Enrolment = Schemas['CustomerInitialization'] & { customer_id: string }

const LIMIT = 500
const LOOK_MS = 200

/**
 * Writes what the lists of events and customers do not say: the journeys, and who takes part in them. It comes last, so that
 * whatever the others name is in it.
 */
export async function writeJourneys(client: Client, folder: string, signal: AbortSignal): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  const journeys: Schemas['Journey'][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: LIMIT, ...(cursor && { cursor }) }
    const page = dataOf(await client.listJourneys({ query, signal }))
    journeys.push(...page.data)
    cursor = page.next_cursor
  }
  const enrolments: Enrolment[] = []
  for (const { journey_id } of journeys) {
    await untilCounted(client, journey_id, signal)
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { limit: LIMIT, ...(cursor && { cursor }) }
      const request = { path: { journey_id }, query, signal }
      const page = dataOf(await client.listJourneyCustomers(request))
      for (const { customer_id, client_customer_id, customer_type, customer_name } of page.data) {
        enrolments.push({ journey_id, customer_id, client_customer_id, customer_type, customer_name })
      }
      cursor = page.next_cursor
    }
  }
  // In the order in which they were made.
  write(folder, 'enrolments', enrolments.reverse())
  write(folder, 'journeys', journeys.reverse())
}

/** Waits until who has been initialized by now is in the journey's lists. */
async function untilCounted(client: Client, journey_id: string, signal: AbortSignal): Promise<void> {
  let begun_ms: number | undefined
  for (;;) {
    const answer = await client.getJourneyReport({ path: { journey_id }, signal })
    const { as_of } = dataOf(answer)
    // By the clock of the server. The header has whole seconds.
    begun_ms ??= Date.parse(answer.response.headers.get('date') ?? '') + 1000
    if (as_of !== null && Date.parse(as_of) >= begun_ms) return
    await sleep(LOOK_MS, undefined, { signal })
  }
}

function write(folder: string, list: 'enrolments' | 'journeys', items: readonly object[]) {
  const lines = [...items, { end: items.length, list }].map((item) => `${JSON.stringify(item)}\n`)
  writePrivateFile(join(folder, WORKSPACE_FILES[list]), lines.join(''))
}

/** Whether a folder has a workspace that was exported whole: the journeys are written last. */
export function isWorkspaceFolder(folder: string): boolean {
  return existsSync(join(folder, WORKSPACE_FILES.journeys))
}

/** @throws {CommandFailure} where the server refuses it */
export function dataOf<Data>(answer: {
  data?: Data | undefined
  error?: Problem | undefined
}): NonNullable<Data> {
  const { data, error } = answer
  if (data !== undefined && data !== null) return data
  throw new CommandFailure(`refused: ${error?.detail} (${error?.code})`)
}
