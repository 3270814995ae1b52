import { argv } from 'node:process'
import { Client } from 'undici'

/** Options of a program that reads exports of all events, one after another, and discards them. */
export type ExportReaderOptions = {
  /** Without the base path. */
  url: string
  key: string
  /** After this time no further export is started. */
  seconds: number
}

/** Figures of the last complete export. */
export type ExportRead = { events: number; seconds: number; exports: number }

const LINE_END = 0x0a

const { url, key, seconds }: ExportReaderOptions = JSON.parse(argv[2] ?? '{}')
const client = new Client(url, { bodyTimeout: 0 })
const until_ms = performance.now() + seconds * 1000
let read: ExportRead | undefined
do {
  const began_ms = performance.now()
  const { statusCode, body } = await client.request({
    method: 'GET',
    path: '/v1/events/export',
    headers: { 'x-service-key': key },
  })
  if (statusCode !== 200) throw new Error(`an export was answered with ${statusCode}`)
  let lines = 0
  let tail = Buffer.alloc(0)
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) lines += 1
    tail = Buffer.concat([tail, chunk]).subarray(-1024)
  }
  const { end } = JSON.parse(tail.toString().trimEnd().split('\n').at(-1) ?? '')
  if (end !== lines - 1) throw new Error(`an export has ${lines - 1} lines; its last line says ${end}`)
  const took_ms = performance.now() - began_ms
  read = { events: end, seconds: took_ms / 1000, exports: (read?.exports ?? 0) + 1 }
} while (performance.now() < until_ms)
await client.close()
process.stdout.write(JSON.stringify(read))
