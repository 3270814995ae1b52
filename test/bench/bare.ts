import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { peerOptions } from './peer.ts'

/** The peer `bare`: reads and parses a body, answers, and stores nothing. What is left is the load's own ceiling. */
const known = new Set<string>()

createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const body = JSON.parse(chunks.length === 0 ? '{}' : String(Buffer.concat(chunks)))
    const isCustomer = typeof body.client_customer_id === 'string'
    const created = isCustomer && !known.has(body.client_customer_id)
    if (created) known.add(body.client_customer_id)
    const text = JSON.stringify(
      isCustomer
        ? { customer_id: `cus_${body.client_customer_id}`, created }
        : {
            success: true,
            id: `evt_${randomUUID()}`,
            duplicate: false,
            received_at: new Date().toISOString(),
          },
    )
    res.writeHead(isCustomer && !created ? 200 : 201, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    res.end(text)
  })
}).listen(peerOptions().port, '127.0.0.1')
