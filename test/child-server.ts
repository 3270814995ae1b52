import { resolve } from 'node:path'
import { vi } from 'vitest'
import { type Client, createClient } from '../client/index.ts'
import manifest from '../package.json' with { type: 'json' }
import { createWorkspace } from '../server/cli/init.ts'
import { newStore } from './cairn.ts'
import { type Command, cairnFile, type Ended, startCommand } from './command.ts'
import { initialize } from './operations/customer.ts'
import { withPatience } from './patience.ts'

const { scripts } = manifest

/** The compile cache of Node. */
const compileCache = resolve('node_modules/.cache/node')

/** A server in a process of its own, as an operator starts it. It is killed when the test ends. */
export type ChildServer = {
  /** Without the base path. */
  url: string
  pid: number
  /** What it has printed to standard output so far. */
  stdout(): string
  /** What it has printed to standard error so far. */
  stderr(): string
  /** A client without retries. */
  client(serviceKey: string): Client
  /** Sends the signal and waits for the process to exit. */
  end(signal: NodeJS.Signals): Promise<Ended>
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

export type ChildServerOptions = {
  databaseUrl: string
  environment?: Record<string, string>
  /** A program that runs the server, with its own arguments. */
  under?: string[]
  /** With the flags and memory settings of `npm start`. */
  asInProduction?: boolean
}

/** Starts `cairn serve` on a free port and waits until it listens. */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const command = serve(options)
  const refused = command.ended.then(({ code, stderr }) => {
    throw new Error(`the server ended with ${code}: ${stderr}`)
  })
  const listening = vi.waitUntil(() => /listens on (\S+)/.exec(command.stdout())?.[1], withPatience)
  const url = await Promise.race([listening, refused])
  refused.catch(() => {})
  const { process, ended } = command
  return {
    url,
    pid: process.pid ?? 0,
    stdout: command.stdout,
    stderr: command.stderr,
    client: (serviceKey) => createClient({ baseUrl: `${url}/v1`, serviceKey, retries: 0 }),
    kill: (signal) => process.kill(signal),
    end(signal) {
      process.kill(signal)
      return ended
    },
    ended,
  }
}

/** Starts a server on a new file with a workspace, and initializes a customer of its journey. */
export async function startChildServerWithCustomer(options: Omit<ChildServerOptions, 'databaseUrl'> = {}) {
  const databaseUrl = await newStore()
  const names = { workspace: 'Example Ltd', journey: 'Onboarding' }
  const workspace = await createWorkspace(databaseUrl, names)
  const { journey_id, secret_key } = workspace
  const server = await startChildServer({ databaseUrl, ...options })
  const client = server.client(secret_key)
  const customer_id = await initialize({ ...workspace, client }, 'user-1')
  /** The body of an event. */
  const event = { journey_id, customer_id, event_id: 'signed_up' }
  return { databaseUrl, server, client, secret_key, workspace_id: workspace.workspace_id, event }
}

/** Starts `cairn serve` on a free port without waiting for it. */
export function serve(options: ChildServerOptions): Command {
  const { databaseUrl, environment, under = [], asInProduction = false } = options
  const ofStart = (pattern: RegExp) => (asInProduction ? [...scripts.start.matchAll(pattern)] : [])
  const flags = ofStart(/ (--[a-z0-9-]+=[0-9]+)/g).map(([, flag = '']) => flag)
  const allocation = ofStart(/(MALLOC_[A-Z_]+)=([0-9]+)/g).map(([, name = '', value = '']) => [name, value])
  const node = [process.execPath, ...flags]
  const [file = '', ...args] = [...under, ...node, cairnFile, 'serve']
  return startCommand(file, args, {
    environment: {
      PORT: '0',
      LOG_LEVEL: 'silent',
      CAIRN_RATE_LIMIT: '0',
      DATABASE_URL: databaseUrl,
      // As `npm start` sets it; threads start in half the time.
      NODE_COMPILE_CACHE: compileCache,
      ...Object.fromEntries(allocation),
      ...environment,
    },
  })
}
