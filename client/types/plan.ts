import { type DefinedEvent, type JourneyEvent, journeyEvents } from '../../server/domain/journey-events.ts'
import type { Client } from '../client.ts'
import type { Problem } from '../operation-calls.ts'

/** The events of a journey, and the digest of its contract, from which they can be recognized. */
export type Plan = { journey_id: string; digest: string; events: JourneyEvent[] }

/** Reads the plan of a journey again if it changes meanwhile, at most this often. */
const MOST_TRIES = 5

/** The server refused to answer. */
class Refused extends Error {
  constructor({ title, detail, code }: Problem) {
    super(`${title}. ${detail} (${code})`)
  }
}

/** Reads what types are made from. @throws {Refused} */
export async function readPlan(client: Client, journeyId: string): Promise<Plan> {
  for (let tries = 1; ; tries += 1) {
    const digest = await readDigest(client, journeyId)
    const { data: journey, error } = await client.getJourney({ path: { journey_id: journeyId } })
    if (error) throw new Refused(error)
    const events = journeyEvents(journey.steps, await readDefinitions(client))
    // Otherwise the digest of one state would stand above the events of another.
    if (digest === (await readDigest(client, journeyId))) return { journey_id: journeyId, digest, events }
    if (tries === MOST_TRIES) throw new Error('The definitions change all the time. Try again later.')
  }
}

/** Returns the digest of the journey's contract. @throws {Refused} */
export async function readDigest(client: Client, journeyId: string): Promise<string> {
  const { data, error } = await client.getJourneyContract({ path: { journey_id: journeyId } })
  if (error) throw new Refused(error)
  const [, digest] = /^ {2}x-digest: '?([\w-]+)'?$/m.exec(await new Response(data).text()) ?? []
  if (!digest) throw new Error('The contract of the journey has no digest.')
  return digest
}

async function readDefinitions(client: Client): Promise<DefinedEvent[]> {
  const definitions: DefinedEvent[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 500, ...(cursor && { cursor }) }
    const { data, error } = await client.listEventDefinitions({ query })
    if (error) throw new Refused(error)
    // The contract describes the types of a value by a pattern, which has no type in TypeScript.
    definitions.push(...(data.data as DefinedEvent[]))
    cursor = data.next_cursor
  }
  return definitions
}
