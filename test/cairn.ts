import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { inject, onTestFinished } from 'vitest'
import { type Client, createClient } from '../client/index.ts'
import { insertWorkspace } from '../server/cli/init.ts'
import type { Config } from '../server/config.ts'
import { type Contract, loadContract } from '../server/contract.ts'
import { contractFile, type ServerOptions, startServer } from '../server/main.ts'
import { sqlitePath } from '../server/storage/sqlite/store-files.ts'
import { checkReply } from './contract/reply-check.ts'
import { engine } from './engine.ts'
import { inStore, serverStarted, serverStops } from './in-store.ts'
import { newDatabase } from './postgres/databases.ts'

export type Workspace = Awaited<ReturnType<typeof insertWorkspace>> & {
  /** With the secret key. */
  client: Client
}

/** A running Cairn with a store of its own. Every response fetched through it is checked against the contract. */
export type Cairn = {
  /** Without the base path, for example `http://127.0.0.1:40123`. */
  url: string
  databaseUrl: string
  /** The one-time link that the server printed at its start; undefined if the store was not new. */
  setupLink: string | undefined
  /** The log so far, line by line. */
  log: Record<string, unknown>[]
  /** A new workspace with an active journey and two keys. */
  workspace(): Promise<Workspace>
  client(serviceKey: string): Client
  /** Sends a request to a path below the base path. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

export type CairnOptions = Partial<
  Pick<
    Config,
    | 'host'
    | 'databaseUrl'
    | 'rateLimit'
    | 'rateLimitMax'
    | 'accounts'
    | 'metricsToken'
    | 'refusals'
    | 'erasuresFile'
    | 'trustedProxies'
    | 'logLevel'
    | 'logAddresses'
  >
> &
  Pick<ServerOptions, 'now' | 'patience' | 'open'> & { publicUrl?: string }

/** Starts a server in this process, on a real socket and a real file. It stops with the test or with `stop`. */
export async function startCairn(options: CairnOptions = {}): Promise<Cairn> {
  const {
    now = Date.now,
    rateLimit = 0,
    rateLimitMax = 0,
    accounts = 'invitation',
    metricsToken,
    refusals = { days: 7, bytes: 50_000_000, rows: 100_000 },
    publicUrl,
    erasuresFile,
    trustedProxies = [],
    host = '127.0.0.1',
    logLevel = 'info',
    logAddresses = true,
    databaseUrl = await newStore(),
    patience,
    open,
  } = options
  const log: Record<string, unknown>[] = []
  const lines = new Writable({
    write(line, _encoding, done) {
      log.push(JSON.parse(String(line)))
      done()
    },
  })
  const config: Config = {
    port: 0,
    host,
    databaseUrl,
    publicUrl: publicUrl === undefined ? undefined : new URL(publicUrl),
    trustedProxies,
    rateLimit,
    rateLimitMax,
    accounts,
    metricsToken,
    refusals,
    erasuresFile,
    logLevel,
    logAddresses,
  }
  const server = await startServer({
    config,
    now,
    log: pino({ level: logLevel }, lines),
    contract: await sharedContract(),
    ...(patience && { patience }),
    ...(open && { open }),
  })
  serverStarted(databaseUrl)
  const checkedFetch = async (request: Request, init?: RequestInit) => {
    const path = new URL(request.url).pathname.slice('/v1'.length)
    return await checkReply(request.method, path, await fetch(request, init))
  }
  const client = (serviceKey: string) =>
    createClient({ baseUrl: `${server.url}/v1`, serviceKey, retries: 0, fetch: checkedFetch })
  return {
    url: server.url,
    databaseUrl,
    setupLink: server.setupLink,
    log,
    client,
    async workspace() {
      const names = { workspace: randomUUID(), journey: 'Onboarding' }
      const made = await inStore(databaseUrl, (db) => insertWorkspace(db, names))
      return { ...made, client: client(made.secret_key) }
    },
    fetch: (path, init) => checkedFetch(new Request(`${server.url}/v1${path}`, init)),
    async stop() {
      await serverStops(databaseUrl)
      await server.stop()
    },
  }
}

let contract: Promise<Contract> | undefined

/** The contract, loaded once for all servers of a process, because that is most of a server's start time. */
function sharedContract(): Promise<Contract> {
  contract ??= loadContract(contractFile)
  return contract
}

/** Returns the `DATABASE_URL` of a new, empty store. It is a copy of a template: creating the tables takes longer. */
export async function newStore(): Promise<string> {
  if (engine === 'postgres') return await newDatabase()
  const databaseUrl = await unmadeStore()
  copyFileSync(inject('run').emptyStore, sqlitePath(databaseUrl))
  return databaseUrl
}

/** Returns the `DATABASE_URL` of a store that its first user creates. */
export async function unmadeStore(): Promise<string> {
  return engine === 'postgres'
    ? await newDatabase('template1')
    : `sqlite:${join(temporaryFolder(), 'cairn.db')}`
}

/** Creates a folder that is removed at the end of the run. */
export function temporaryFolder(): string {
  return mkdtempSync(join(inject('run').folder, 'test-'))
}

/** The same as `startCairn`, for one test: it is stopped when the test ends. */
export async function startCairnForTest(options: CairnOptions = {}): Promise<Cairn> {
  const cairn = await startCairn(options)
  onTestFinished(cairn.stop)
  return cairn
}
