import { mkdirSync, writeFileSync } from 'node:fs'
import { startServer } from './server.js'

// Saves the contract of a journey with defined events, for the generators.
const { baseUrl, journey_id, secret_key, stop } = await startServer()

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function call(method, path, body) {
  const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
  const reply = await fetch(`${baseUrl}${path}`, { method, headers, body: body && JSON.stringify(body) })
  if (!reply.ok) throw new Error(await reply.text())
  return await reply.text()
}

await call('PATCH', `/journeys/${journey_id}`, { steps: [{ event_id: 'signed_up', name: 'Signed up' }] })
await call('POST', '/event-definitions', {
  event_id: 'plan_chosen',
  description: 'Somebody chose a plan.',
  variables: {
    type: 'object',
    required: ['plan'],
    properties: {
      plan: { type: 'string', enum: ['free', 'team'], description: 'The new plan' },
      seats: { type: ['integer', 'null'], minimum: 1 },
      cart: {
        type: 'array',
        items: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
      },
      chosen_at: { type: 'string', format: 'date-time' },
      meta: { type: 'object' },
    },
  },
})
for (const event_id of ['Plan chosen', 'invoice "paid" 🎉', 'created', '2fa']) {
  await call('POST', '/event-definitions', {
    event_id,
    variables: { type: 'object', additionalProperties: false },
  })
}
mkdirSync('dist', { recursive: true })
writeFileSync('dist/journey.yaml', await call('GET', `/journeys/${journey_id}/openapi.yaml`))
await stop()
