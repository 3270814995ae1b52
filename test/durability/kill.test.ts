import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import type { Client, Schemas } from '../../client/index.ts'
import { type ChildServer, startChildServer, startChildServerWithCustomer } from '../child-server.ts'

type Sent = { body: Schemas['EventCreation'] & { message_id: string }; id?: string }

const ROUNDS = 5
const SENDERS = 16

/** Sends events one after the other until the server is gone. */
async function sendUntilGone(client: Client, next: () => Sent, onAnswer: () => void) {
  while (true) {
    const sent = next()
    try {
      const { data } = await client.createEvent({ body: sent.body })
      if (!data) throw new Error('refused')
      sent.id = data.id
      onAnswer()
    } catch {
      return
    }
  }
}

/** Lets many senders work until the server has given a random number of answers, and kills it then. */
async function killUnderLoad(server: ChildServer, client: Client, next: () => Sent) {
  let answers = 20 + Math.floor(Math.random() * 300)
  const onAnswer = () => {
    answers -= 1
    if (answers === 0) server.kill('SIGKILL')
  }
  await Promise.all(Array.from({ length: SENDERS }, () => sendUntilGone(client, next, onAnswer)))
  expect(await server.ended).toMatchObject({ signal: 'SIGKILL' })
}

async function listAll(client: Client): Promise<Schemas['Event'][]> {
  const events: Schemas['Event'][] = []
  let query: { limit: number; cursor?: string } = { limit: 500 }
  while (true) {
    const { data, error } = await client.listEvents({ query })
    if (error) throw new Error(error.detail)
    events.push(...data.data)
    if (data.next_cursor === null) return events
    query = { limit: 500, cursor: data.next_cursor }
  }
}

it(`keeps every answered event once through ${ROUNDS} kills under load`, { timeout: 120_000 }, async () => {
  const started = await startChildServerWithCustomer()
  const { path, databaseUrl, secret_key, event } = started
  let { server } = started
  const sent: Sent[] = []
  const next = () => {
    const one = { body: { ...event, message_id: `m-${sent.length}`, custom_variables: { n: sent.length } } }
    sent.push(one)
    return one
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    await killUnderLoad(server, server.client(secret_key), next)
    server = await startChildServer({ databaseUrl })
    const client = server.client(secret_key)

    const stored = new Map((await listAll(client)).map(({ message_id, id }) => [message_id, id]))
    const lost = sent.filter(({ body, id }) => id !== undefined && stored.get(body.message_id) !== id)
    expect(lost).toEqual([])

    // A sender that has no answer, or none that it remembers, sends again.
    const resends = await Promise.all(sent.map(({ body }) => client.createEvent({ body })))
    for (const [index, one] of sent.entries()) {
      const { data, response } = resends[index] ?? {}
      const known = stored.get(one.body.message_id)
      expect(response?.status).toBe(known === undefined ? 201 : 200)
      if (known !== undefined) expect(data?.id).toBe(known)
      if (data) one.id = data.id
    }
    const all = await listAll(client)
    expect(all.map(({ message_id }) => message_id).toSorted()).toEqual(
      sent.map(({ body }) => body.message_id).toSorted(),
    )
  }
  await server.end('SIGTERM')
  const file = new Database(path, { readonly: true })
  expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
  file.close()
})
