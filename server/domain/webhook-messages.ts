import { hash } from 'node:crypto'
import type { components, webhooks } from '../../generated/contract.ts'
import { typeIdBytes, typeIdText } from './identifiers.ts'
import { instantText } from './instants.ts'

type Schemas = components['schemas']

/** A message as the contract describes it. */
type Message = webhooks[keyof webhooks]['post']['requestBody']['content']['application/json']

/** A message to send to a webhook. */
export type NewDelivery = {
  /** The `webhook-id`. */
  delivery_id: string
  type: string
  /** What it is about, unique per webhook and type. */
  subject: string
  customer_id: string | null
  journey_id: string | null
  /** JSON. */
  message: string
  created_ms: number
  /** When it is due. */
  next_ms: number
}

/** Maximum size of a message in bytes (contract: "Types"). */
const MESSAGE_BYTES = 20_000

/** The first bytes of a UUIDv7. */
const TIME_BYTES = 6

/**
 * Returns the `webhook-id` of a message: the same whenever and wherever it is made, so that receivers recognize it, and
 * no message is stored twice. It begins with the time in its subject's identifier, if that has one, so that messages of the
 * same time are stored side by side: random ones would each take a page of the table and of its indexes.
 * @param subject what the message is about, unique per webhook and type
 */
function deliveryId(webhookId: string, type: string, subject: string): string {
  const digest = hash('sha256', `${webhookId}\n${type}\n${subject}`, 'buffer')
  const time = typeIdBytes(subject)?.subarray(0, TIME_BYTES) ?? []
  digest.set(time)
  return typeIdText('msg', digest.subarray(0, 16))
}

/** Returns the message about an event. If it is too large, it has a link to the event instead of its variables. */
export function eventMessage(event: Schemas['Event']): string {
  const message = {
    type: 'event.created',
    timestamp: event.received_at,
    data: { ...event, link: null as string | null },
  } as const
  const text = textOf(message)
  if (Buffer.byteLength(text) <= MESSAGE_BYTES) return text
  return textOf({
    ...message,
    data: { ...message.data, custom_variables: null, link: `/events?id=${event.id}` },
  })
}

function textOf(message: Message): string {
  return JSON.stringify(message)
}

/** What a message is about, besides its content. */
type About = Pick<NewDelivery, 'subject'> &
  Partial<Pick<NewDelivery, 'customer_id' | 'journey_id'>> & { now_ms: number }

/** Returns a delivery of a message that is due now. */
export function deliveryOf(webhookId: string, message: Message, about: About): NewDelivery {
  return dueNow(webhookId, { type: message.type, text: textOf(message) }, about)
}

/** Returns a delivery of an event that is due now. */
export function eventDelivery(webhookId: string, event: Schemas['Event'], now_ms: number): NewDelivery {
  const { id, customer_id, journey_id } = event
  const message = { type: 'event.created', text: eventMessage(event) }
  return dueNow(webhookId, message, { subject: id, customer_id, journey_id, now_ms })
}

function dueNow(
  webhookId: string,
  { type, text }: { type: string; text: string },
  { subject, customer_id = null, journey_id = null, now_ms }: About,
): NewDelivery {
  return {
    delivery_id: deliveryId(webhookId, type, subject),
    type,
    subject,
    customer_id,
    journey_id,
    message: text,
    created_ms: now_ms,
    next_ms: now_ms,
  }
}

/** Returns a delivery that says which period was removed before a webhook was told about it. */
export function skippedDelivery(
  webhookId: string,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  now_ms: number,
): NewDelivery {
  const data = { from: instantText(from_ms), to: instantText(to_ms) }
  const message = { type: 'webhook.skipped', timestamp: instantText(now_ms), data } as const
  return deliveryOf(webhookId, message, { subject: String(to_ms), now_ms })
}

/** Returns a delivery that says that a customer was erased. */
export function erasedDelivery(webhookId: string, customer_id: string, erased_ms: number): NewDelivery {
  const erased_at = instantText(erased_ms)
  const message = { type: 'customer.erased', timestamp: erased_at, data: { customer_id, erased_at } } as const
  return deliveryOf(webhookId, message, { subject: customer_id, customer_id, now_ms: erased_ms })
}
