import { quoted } from '../parts/shell-text.ts'

/** The values filled into the code. */
export type CodeValues = {
  baseUrl: string
  journey_id: string
  /** Undefined if there is none: the code then has a placeholder. */
  serviceKey: string | undefined
}

const placeholder = '$CAIRN_SERVICE_KEY'

/** Commands for a shell such as bash that use only curl and sed. Without a key they read the variable CAIRN_SERVICE_KEY. */
export function curlCommands({ baseUrl, journey_id, serviceKey }: CodeValues): string {
  const customer = { ...firstCustomer, journey_id }
  const event = {
    journey_id,
    customer_id: '$CUSTOMER_ID',
    event_id: 'first_event',
    custom_variables: { sent_from: 'curl' },
  }
  const eventBody = quoted(wrapped(event)).replace('$CUSTOMER_ID', `'"$CUSTOMER_ID"'`)
  return `${serviceKey ? `CAIRN_SERVICE_KEY=${quoted(serviceKey)}\n` : ''}ANSWER=$(curl -sS ${quoted(`${baseUrl}/customers/initialize`)} \\
  -H "x-service-key: $CAIRN_SERVICE_KEY" \\
  -H 'content-type: application/json' \\
  -d ${quoted(wrapped(customer))})
echo "$ANSWER"
CUSTOMER_ID=$(echo "$ANSWER" | sed -n 's/.*"customer_id": *"\\([^"]*\\)".*/\\1/p')
curl -sS -w '\\n' ${quoted(`${baseUrl}/events/create`)} \\
  -H "x-service-key: $CAIRN_SERVICE_KEY" \\
  -H 'content-type: application/json' \\
  -d ${eventBody}
`
}

/** A module for a page. */
export function browserModule({ baseUrl, journey_id, serviceKey = placeholder }: CodeValues): string {
  return `import { createTracker } from 'cairn-client'

const tracker = createTracker({
  baseUrl: '${baseUrl}',
  serviceKey: '${serviceKey}',
  customer: {
    client_customer_id: '${firstCustomer.client_customer_id}',
    journey_id: '${journey_id}',
    customer_type: '${firstCustomer.customer_type}',
    customer_name: '${firstCustomer.customer_name}',
  },
})

const { data, error } = await tracker.track('first_event', { sent_from: 'browser' })
console.log(data ?? error)
`
}

/** A module for Node 20 or later. */
export function serverModule({ baseUrl, journey_id, serviceKey = placeholder }: CodeValues): string {
  return `import { createClient } from 'cairn-client'

const cairn = createClient({
  baseUrl: '${baseUrl}',
  serviceKey: '${serviceKey}',
})
const journey_id = '${journey_id}'

const customer = await cairn.initializeCustomer({
  body: {
    client_customer_id: '${firstCustomer.client_customer_id}',
    journey_id,
    customer_type: '${firstCustomer.customer_type}',
    customer_name: '${firstCustomer.customer_name}',
  },
})
if (customer.error) throw new Error(JSON.stringify(customer.error))

const { data, error } = await cairn.createEvent({
  body: {
    journey_id,
    customer_id: customer.data.customer_id,
    event_id: 'first_event',
    custom_variables: { sent_from: 'server' },
  },
})
console.log(data ?? error)
`
}

const firstCustomer = {
  client_customer_id: 'first-customer',
  customer_type: 'contact',
  customer_name: 'First customer',
}

/** JSON with two fields per line, aligned after `  -d '`. */
function wrapped(body: object): string {
  const fields = Object.entries(body).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`)
  const lines: string[] = []
  for (let index = 0; index < fields.length; index += 2) lines.push(fields.slice(index, index + 2).join(', '))
  return `{${lines.join(',\n       ')}}`
}
