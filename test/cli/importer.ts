import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, startCairnForTest, temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { type Command, runCairn, spawnCairn } from '../fixtures/command.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { withPatience } from '../fixtures/patience.ts'

type EventLine = Partial<Schemas['EventCreation']> & Record<string, unknown>

/** A line of progress. There are some if the machine is so busy that an import takes seconds. */
const PROGRESS = /^(?:(?:\d+ %, )?\d+ created, .+|waiting for the server: .+)\n/gm

/** Creates a workspace and a folder to import from. */
export async function newImport(cairn: Cairn) {
  const workspace = await cairn.workspace()
  return { ...workspace, ...importerOf(`${cairn.url}/v1`, workspace.secret_key, workspace.journey_id) }
}

/** Returns what runs `cairn import` in a folder of its own, with the key and without a store. */
export function importerOf(baseUrl: string, key: string, journey_id?: string) {
  const folder = temporaryFolder()
  const file = join(folder, 'events.ndjson')
  const options = { environment: { CAIRN_SERVICE_KEY: key } }
  const journey = journey_id === undefined ? [] : ['--journey', journey_id]
  const args = (path: string, more: string[]) => {
    return ['import', path, '--base-url', baseUrl, ...journey, '--json', ...more]
  }
  return {
    folder,
    file,
    write: (lines: readonly (object | string)[]) => writeFileSync(file, textOf(lines)),
    /** Imports a file and returns what it printed: with the summary parsed, and the lines of progress apart. */
    async import(path = file, ...more: string[]) {
      const { code, stdout, stderr } = await runCairn(args(path, more), options)
      const summary = stdout === '' ? undefined : JSON.parse(stdout)
      return { code, stderr: stderr.replace(PROGRESS, ''), progress: stderr.match(PROGRESS) ?? [], summary }
    },
    start: (path = file, ...more: string[]): Command => {
      return spawnCairn(args(path, more), options)
    },
    refused: () => jsonLines(readFileSync(`${file}.refused.ndjson`, 'utf8')),
  }
}

export function textOf(lines: readonly (object | string)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

/** Returns a line that identifies its customer by the caller's own identifiers. */
export function ownEvent(n: number, more: EventLine = {}): EventLine {
  const customer = {
    client_customer_id: `user-${n % 7}`,
    customer_type: 'contact',
    customer_name: `Ada ${n % 7}`,
  }
  return { ...customer, event_id: 'signed_up', custom_variables: { n }, ...more }
}

export async function listAll(client: Workspace['client']): Promise<Schemas['Event'][]> {
  const events: Schemas['Event'][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, error } = await client.listEvents({ query: { limit: 500, ...(cursor && { cursor }) } })
    if (error) throw new Error(error.detail)
    events.push(...data.data)
    cursor = data.next_cursor
  }
  return events
}

/** Returns the `n` of all stored events, in order. */
export async function storedNumbers(client: Workspace['client']): Promise<unknown[]> {
  const variables = (await listAll(client)).map(({ custom_variables }) => Object(custom_variables).n)
  return variables.toSorted((a, b) => a - b)
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

/**
 * Forwards requests, and records which customers' initializations were in flight at the same time: their order at the
 * server is unknown.
 */
export async function startOverlapWatch(target: string) {
  const inFlight = new Set<string>()
  const overlapping: string[] = []
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    const { client_customer_id } = incoming.url?.endsWith('/initialize') ? JSON.parse(String(body)) : {}
    if (inFlight.has(client_customer_id)) overlapping.push(client_customer_id)
    if (client_customer_id !== undefined) inFlight.add(client_customer_id)
    const { method, headers } = incoming
    const forwarded = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
      inFlight.delete(client_customer_id)
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.end(body)
  }).listen(0, '127.0.0.1')
  return { url: await listening(server), overlapping }
}

/** The same on a server of its own, with a key that has a rate limit. */
export async function newLimitedImport(rate: number) {
  const limited = await startCairnForTest()
  const { client, journey_id } = await limited.workspace()
  const create = [
    'key',
    'create',
    '--kind',
    'secret',
    '--name',
    'Import',
    '--rate-limit',
    String(rate),
    '--json',
  ]
  const made = await runCairn(create, { environment: { DATABASE_URL: limited.databaseUrl } })
  const { key } = JSON.parse(made.stdout)
  return { client, log: limited.log, ...importerOf(`${limited.url}/v1`, key, journey_id) }
}

/**
 * What happens to a request: a bare status, a broken connection, no response at all, or a response that is lost after
 * the work is done.
 */
type Fault = 302 | 413 | 429 | 502 | 503 | 'dropped' | 'unanswered' | 'lost' | undefined

/** Forwards requests, except for the faults that `faultOf` returns, counted from 1. */
export async function startFaultyProxy(
  target: string,
  faultOf: (count: number, request: IncomingMessage) => Fault | Promise<Fault>,
): Promise<string> {
  let count = 0
  const server = createServer(async (incoming, outgoing) => {
    count += 1
    const fault = await faultOf(count, incoming)
    if (fault === 'unanswered') return incoming.resume()
    if (fault === 'dropped') return incoming.destroy()
    if (typeof fault === 'number') return incoming.resume().on('end', () => outgoing.writeHead(fault).end())
    const { method, headers } = incoming
    const forwarded = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
      if (fault === 'lost') return answer.resume().on('end', () => outgoing.destroy())
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      return answer.pipe(outgoing)
    })
    return incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  return await listening(server)
}

async function listening(server: Server): Promise<string> {
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await vi.waitUntil(() => server.listening, withPatience)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
