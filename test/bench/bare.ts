import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { peerOptions } from './peer.ts'

/**
 * The peer `bare`: reads and parses a body, responds, and stores nothing. It shows the limit of the load. A GET gets a page
 * of events of ordinary size, always the same; a body that is not JSON gets 400.
 */
const known = new Set<string>()

const page = JSON.stringify({
  data: Array.from({ length: 50 }, (_, number) => ({
    id: `evt_${randomUUID()}`,
    event_id: 'signed_up',
    journey_id: `jrn_${randomUUID()}`,
    customer_id: `cus_${randomUUID()}`,
    received_at: new Date(number).toISOString(),
    message_id: randomUUID(),
    custom_variables: { plan: 'team', seats: number, trial: false },
  })),
  next_cursor: randomUUID(),
})

createServer((req, res) => {
  if (req.method === 'GET') {
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': page.length })
    res.end(page)
    return
  }
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const { status, reply } = answer(parsed(chunks.length === 0 ? '{}' : String(Buffer.concat(chunks))))
    const text = JSON.stringify(reply)
    res.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    res.end(text)
  })
}).listen(peerOptions().port, '127.0.0.1')

type Body = { client_customer_id?: string; events?: unknown[] }

/** Undefined if the text is not JSON. */
function parsed(text: string): Body | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function answer(body: Body | undefined) {
  if (!body) return { status: 400, reply: { success: false } }
  const { client_customer_id, events } = body
  if (client_customer_id !== undefined) {
    const created = !known.has(client_customer_id)
    known.add(client_customer_id)
    return { status: created ? 201 : 200, reply: { customer_id: `cus_${client_customer_id}`, created } }
  }
  if (events) {
    const results = events.map(() => ({ status: 'created', id: `evt_${randomUUID()}` }))
    return { status: 200, reply: { received: events.length, created: events.length, results } }
  }
  const received_at = new Date().toISOString()
  return { status: 201, reply: { success: true, id: `evt_${randomUUID()}`, duplicate: false, received_at } }
}
