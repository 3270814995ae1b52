// engines: sqlite, postgres

import { expect, it } from 'vitest'
import type { Client, Schemas } from '../../client/index.ts'
import { processEnvironment } from '../../server/config.ts'
import { messageIdText } from '../../server/domain/message-ids.ts'
import { type ActivityCounts, PERIOD_MS } from '../../server/storage/activity/activity.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { type ChildServer, startChildServer, startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { initialize } from '../fixtures/customer.ts'
import { engine } from '../fixtures/engine.ts'
import { indexFaults } from '../fixtures/run-contents.ts'
import {
  type Connection,
  connectTo,
  countedActivity,
  openStoreForTest,
  readingIn,
} from '../fixtures/store.ts'
import { casesToTry } from '../fixtures/thoroughness.ts'

type Event = Schemas['EventCreation'] & { message_id: string }
/** Events that were sent together; `ids` once the response has arrived. */
type Sent = { events: Event[]; ids?: string[] }

/**
 * `CAIRN_KILLS=500 npx vitest run test/durability/kill.test.ts` runs more kills. On PostgreSQL a restart has nothing to
 * recover; test/postgres kills the database itself.
 */
const CASES = engine === 'sqlite' ? { inCi: 6, elsewhere: 4 } : { inCi: 3, elsewhere: 2 }
const KILLS = Number(processEnvironment().CAIRN_KILLS ?? casesToTry(CASES))
const SENDERS = 12
const BATCHERS = 4
const BATCH_EVENTS = 200
const CUSTOMERS = 20

/** @returns the identifiers in the response, and how many events were stored before */
async function answer(client: Client, { events }: Sent): Promise<{ ids: string[]; duplicate: number }> {
  const [first] = events
  if (first && events.length === 1) {
    const { data, error } = await client.createEvent({ body: first })
    if (error) throw new Error(error.code)
    return { ids: [data.id], duplicate: Number(data.duplicate) }
  }
  const { data, error } = await client.createEvents({ body: { events } })
  if (error) throw new Error(error.code)
  expect(data.rejected).toBe(0)
  return { ids: data.results.map(({ id }) => id ?? ''), duplicate: data.duplicate }
}

/** Sends one request after another until the server has died. */
async function sendUntilGone(client: Client, next: () => Sent, onAnswer: () => void) {
  while (true) {
    const sent = next()
    const answered = await answer(client, sent).catch((error) => {
      if (!(error instanceof TypeError)) throw error
      return undefined
    })
    if (!answered) return
    expect(answered.duplicate).toBe(0)
    sent.ids = answered.ids
    onAnswer()
  }
}

/** Lets many senders work until the server has sent a random number of responses, then kills it. */
async function killUnderLoad(server: ChildServer, client: Client, next: (size: number) => Sent) {
  let answers = 10 + Math.floor(Math.random() * 150)
  const onAnswer = () => {
    answers -= 1
    if (answers === 0) server.kill('SIGKILL')
  }
  const sizes = [...Array(SENDERS).fill(1), ...Array(BATCHERS).fill(BATCH_EVENTS)]
  await Promise.all(sizes.map((size) => sendUntilGone(client, () => next(size), onAnswer)))
  expect(await server.ended).toMatchObject({ signal: 'SIGKILL' })
}

/** How often each `message_id` is stored. */
async function storedMessages({ run }: Connection): Promise<Map<string, number>> {
  const text = engine === 'sqlite' ? 'message_id' : 'coalesce(message_text, CAST(message_id AS text))'
  const counts = new Map<string, number>()
  for (const { message } of await run(`SELECT ${text} AS message FROM events`)) {
    const text = messageIdText(message as Uint8Array | string)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}

/** Everything acknowledged is stored once; of each unacknowledged request all or nothing is stored. */
async function assertNothingLost(store: Connection, sent: Sent[]) {
  const counts = await storedMessages(store)
  expect([...counts].filter(([, count]) => count > 1)).toEqual([])
  const missing = ({ events }: Sent) => events.filter(({ message_id }) => !counts.has(message_id)).length
  expect(sent.filter((one) => one.ids && missing(one) > 0)).toEqual([])
  expect(sent.filter((one) => missing(one) > 0 && missing(one) < one.events.length)).toEqual([])
}

/** Sum of the counts of all days. */
async function activityOf(databaseUrl: string, workspace_id: string): Promise<ActivityCounts> {
  const { activity } = await openStoreForTest({ databaseUrl })
  const now_ms = Date.now()
  const span = { by: 'day', from_ms: now_ms - PERIOD_MS.day, to_ms: now_ms + 1 } as const
  const { total } = await countedActivity(activity(workspace_id, span, readingIn(workspace_id)))
  return total
}

async function timeline(client: Client, customer_id: string): Promise<string[]> {
  const ids: string[] = []
  let query: { limit: number; cursor?: string } = { limit: 500 }
  while (true) {
    const { data, error } = await client.listCustomerEvents({ path: { customer_id }, query })
    if (error) throw new Error(error.detail)
    ids.push(...data.data.map(({ id }) => id))
    if (data.next_cursor === null) return ids
    query = { limit: 500, cursor: data.next_cursor }
  }
}

it(`keeps every acknowledged event once through ${KILLS} kills under load`, {
  timeout: 60_000 * KILLS,
}, async () => {
  const started = await startChildServerWithCustomer()
  const { databaseUrl, secret_key, event } = started
  const store = await connectTo(databaseUrl)
  let { server } = started
  const { journey_id } = event
  const client = server.client(secret_key)
  const customers = await Promise.all(
    Array.from({ length: CUSTOMERS }, (_, index) => initialize({ journey_id, client }, `user-${index}`)),
  )
  const sent: Sent[] = []
  let made = 0
  let duplicate = 0
  const sendAgain = async (client: Client, one: Sent) => {
    const answered = await answer(client, one)
    duplicate += answered.duplicate
    return answered.ids
  }
  const next = (size: number) => {
    const events = Array.from({ length: size }, (): Event => {
      made += 1
      const customer_id = customers[made % CUSTOMERS] ?? ''
      // Half of them in the form that is stored as bytes.
      const message_id = made % 2 ? `m-${made}` : `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
      return { ...event, customer_id, message_id, custom_variables: { n: made } }
    })
    const one: Sent = { events }
    sent.push(one)
    return one
  }

  for (let kill = 0; kill < KILLS; kill += 1) {
    await killUnderLoad(server, server.client(secret_key), next)
    server = await startChildServer({ databaseUrl })
    await assertNothingLost(store, sent)
    // A sender that got no response, or has lost it, sends again.
    for (const one of sent.slice(-40)) {
      const ids = await sendAgain(server.client(secret_key), one)
      if (one.ids) expect(ids).toEqual(one.ids)
      one.ids = ids
    }
  }
  const last = server.client(secret_key)
  for (const one of sent) expect(await sendAgain(last, one)).toEqual(one.ids)
  expect((await storedMessages(store)).size).toBe(made)
  for (const customer_id of customers) {
    const expected = sent.flatMap(({ events, ids = [] }) =>
      ids.filter((_, index) => events[index]?.customer_id === customer_id),
    )
    expect(await timeline(last, customer_id)).toEqual(expected.toSorted().toReversed())
  }
  await server.end('SIGTERM')
  // Every acknowledged event is counted, and none twice.
  expect(await activityOf(databaseUrl, started.workspace_id)).toEqual({
    created: made,
    duplicate,
    rejected: 0,
  })
  if (engine === 'sqlite') expect(indexFaults(sqlitePath(databaseUrl))).toEqual([{ integrity_check: 'ok' }])
})
