import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { type Client, createClient } from '../client/index.ts'
import { createWorkspace } from '../server/cli/init.ts'
import type { Config } from '../server/config.ts'
import { startServer } from '../server/main.ts'
import { checkReply } from './contract-check.ts'

export type Workspace = Awaited<ReturnType<typeof createWorkspace>> & {
  /** With the secret key. */
  client: Client
}

/** A running Cairn on a store of its own. Every reply that is fetched through it is checked against the contract. */
export type Cairn = {
  /** Without the base path, for example `http://127.0.0.1:40123`. */
  url: string
  databaseUrl: string
  /** The log so far, line by line. */
  log: Record<string, unknown>[]
  /** A new workspace with an active journey and two keys. */
  workspace(): Promise<Workspace>
  client(serviceKey: string): Client
  /** Sends a request to a path below the base path. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

export type CairnOptions = Partial<Pick<Config, 'databaseUrl' | 'rateLimit'>> & { now?: () => number }

/** Starts a server in this process, on a real socket and a real file. It ends with the test or with `stop`. */
export async function startCairn(options: CairnOptions = {}): Promise<Cairn> {
  const {
    now = Date.now,
    rateLimit = 0,
    databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`,
  } = options
  const log: Record<string, unknown>[] = []
  const lines = new Writable({
    write(line, _encoding, done) {
      log.push(JSON.parse(String(line)))
      done()
    },
  })
  const config: Config = { port: 0, host: '127.0.0.1', databaseUrl, rateLimit, logLevel: 'info' }
  const server = await startServer({ config, now, log: pino(lines) })
  const client = (serviceKey: string) =>
    createClient({
      baseUrl: `${server.url}/v1`,
      serviceKey,
      retries: 0,
      fetch: async (request, init) => await checkReply(request, await fetch(request, init)),
    })
  return {
    url: server.url,
    databaseUrl,
    log,
    client,
    async workspace() {
      const made = await createWorkspace(databaseUrl, { workspace: randomUUID(), journey: 'Onboarding' })
      return { ...made, client: client(made.secret_key) }
    },
    async fetch(path, init) {
      const request = new Request(`${server.url}/v1${path}`, init)
      return await checkReply(request, await fetch(request.clone()))
    },
    stop: server.stop,
  }
}

/** A folder that is removed when the test, or the file's tests, have ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-test-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The same as `startCairn`, for one test: it is stopped when the test has ended. */
export async function startCairnForTest(options: CairnOptions = {}): Promise<Cairn> {
  const cairn = await startCairn(options)
  onTestFinished(cairn.stop)
  return cairn
}
