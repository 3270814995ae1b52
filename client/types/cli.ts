#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Client, createClient } from '../client.ts'
import { readDigest, readPlan } from './plan.ts'
import { changeText, planChanges, sendersVerdict } from './plan-changes.ts'
import { embeddedPlan, planText } from './plan-text.ts'

const USAGE = `Usage: cairn-client types --base-url <url> --journey <id> > cairn.d.ts
       cairn-client types --base-url <url> --check cairn.d.ts

Writes the events of a journey as types for createClient and createTracker: its steps, and all that the workspace has
defined. With --check it compares them with those of a file and writes none.

  --base-url <url>    of the API, for example https://cairn.example.com/v1
  --journey <id>      the journey; with --check by default that of the file
  --check <file>      a file that this command has written
  --key-file <file>   file that contains only the secret key; by default CAIRN_SERVICE_KEY has it
  --version           print the version of the client

Exit codes of --check: 0 the same for senders, 1 additive, 2 breaking. 3: the command failed.
`

const EXIT_CODES = { none: 0, additive: 1, breaking: 2 }
const FAILED = 3

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`cairn-client: ${messageOf(error)}\n`)
  process.exitCode = FAILED
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'base-url': { type: 'string' },
      journey: { type: 'string' },
      check: { type: 'string' },
      'key-file': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'V' },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  if (values.version) {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
    process.stdout.write(`${version}\n`)
    return 0
  }
  const { 'base-url': baseUrl, check, 'key-file': keyFile } = values
  if (positionals.join() !== 'types') throw new Error(`the only command is types.\n\n${USAGE}`)
  if (!baseUrl) throw new Error(`name the server with --base-url.\n\n${USAGE}`)
  const known = check === undefined ? undefined : fileAt(check, embeddedPlan)
  const journeyId = values.journey ?? known?.journey_id
  if (!journeyId) throw new Error(`name the journey with --journey.\n\n${USAGE}`)
  const client = createClient({ baseUrl, serviceKey: serviceKey(keyFile) })
  if (known) return await compare(client, journeyId, known)
  process.stdout.write(planText(await readPlan(client, journeyId)))
  return 0
}

/** Says on standard output what has changed. @returns the exit code */
async function compare(
  client: Client,
  journeyId: string,
  known: ReturnType<typeof embeddedPlan>,
): Promise<number> {
  if (journeyId === known.journey_id && (await readDigest(client, journeyId)) === known.digest)
    return EXIT_CODES.none
  const { events } = await readPlan(client, journeyId)
  const changes = planChanges(known.events, events)
  for (const change of changes) process.stdout.write(`${changeText(change)}\n`)
  return EXIT_CODES[sendersVerdict(changes)]
}

/** Not an argument, because every user of the machine can see arguments. */
function serviceKey(keyFile: string | undefined): string {
  // biome-ignore lint/style/noProcessEnv: all that the command reads of it
  const key = keyFile === undefined ? process.env.CAIRN_SERVICE_KEY : fileAt(keyFile, (text) => text.trim())
  if (key !== undefined && /^[\x21-\x7e]+$/.test(key)) return key
  throw new Error('it needs a secret key. Set CAIRN_SERVICE_KEY, or name a file with --key-file.')
}

function fileAt<Content>(path: string, parse: (text: string) => Content): Content {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`cannot read ${path}: ${messageOf(error)}`)
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // The message of fetch is "fetch failed".
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
