import { readFileSync } from 'node:fs'
import { argv } from 'node:process'
import { Client } from 'pg'
import { TypeID } from 'typeid-js'
import type { Subject } from '../data.ts'

/** Start options of the program, as JSON in its first argument. */
export type TimelineOptions = {
  databaseUrl: string
  subjectsFile: string
  seconds: number
  warmUpSeconds: number
}

export type TimelineResult = { p99_ms: number }

/** A minimal client that repeatedly runs our server's query for the newest page of a customer's events. */
const { databaseUrl, subjectsFile, seconds, warmUpSeconds }: TimelineOptions = JSON.parse(argv[2] ?? '')
const [subject]: Subject[] = JSON.parse(readFileSync(subjectsFile, 'utf8'))
const customers = subject?.customerIds.map((id) => TypeID.fromString(id).toUUID()) ?? []

const client = new Client({ connectionString: databaseUrl })
await client.connect()
const from = performance.now() + warmUpSeconds * 1000
const latencies: number[] = []
while (performance.now() < from + seconds * 1000) {
  const customer = customers[Math.floor(Math.random() * customers.length)]
  const begun = performance.now()
  await client.query({
    name: 'timeline',
    text: 'SELECT * FROM events WHERE customer_id = $1 ORDER BY at_ms DESC, id DESC LIMIT 51',
    values: [customer],
  })
  if (begun >= from) latencies.push(performance.now() - begun)
}
await client.end()
latencies.sort((a, b) => a - b)
const result: TimelineResult = { p99_ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN }
process.stdout.write(JSON.stringify(result))
