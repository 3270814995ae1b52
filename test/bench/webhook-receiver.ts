import { appendFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { argv } from 'node:process'
import { Webhook } from 'standardwebhooks'

// A receiver of webhooks with moods, to be killed at any time. It notes a message in a file before it answers.

export type ReceiverJob = {
  port: number
  secret: string
  /** Where messages are noted: a line per message, of `subjectOf`, a tab and the `webhook-id`. */
  file: string
}

/** What a message is about, as the sender of the load knows it. */
export function subjectOf(type: string, data: Record<string, unknown>): string {
  return `${type} ${type === 'event.created' ? data.id : data.customer_id}`
}

/** Stands for the subject of a message whose signature is wrong. */
export const UNVERIFIED = 'unverified'

type Answer = (res: ServerResponse) => void

const accept: Answer = (res) => res.writeHead(204).end()
const sometimes = (share: number, answer: Answer): Answer => {
  return (res) => (Math.random() < share ? answer : accept)(res)
}
const later = (most_ms: number): Answer => {
  return (res) => void setTimeout(accept, Math.random() * most_ms, res)
}

/** How requests are answered for some seconds. Good ones stand more than once, because most of the time is to be good. */
const MOODS: readonly Answer[] = [
  accept,
  accept,
  accept,
  accept,
  later(1_500),
  sometimes(0.5, (res) => res.writeHead(500).end('Out of order')),
  sometimes(0.2, (res) => res.writeHead(429, { 'retry-after': '1' }).end()),
  sometimes(0.5, (res) => res.destroy()),
  // Never.
  sometimes(0.02, () => {}),
]

const LONGEST_MOOD_MS = 5_000

function receive({ port, secret, file }: ReceiverJob) {
  const webhook = new Webhook(secret)
  let answer = accept
  const change = () => {
    answer = MOODS[Math.floor(Math.random() * MOODS.length)] ?? accept
    setTimeout(change, Math.random() * LONGEST_MOOD_MS)
  }
  change()
  createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      appendFileSync(file, `${verified(Buffer.concat(chunks).toString())}\t${req.headers['webhook-id']}\n`)
      answer(res)
    })

    function verified(text: string): string {
      try {
        webhook.verify(text, req.headers as Record<string, string>)
      } catch {
        return UNVERIFIED
      }
      const { type, data } = JSON.parse(text)
      return subjectOf(type, data)
    }
  }).listen(port, '127.0.0.1')
}

if (import.meta.main) receive(JSON.parse(argv[2] ?? ''))
