import { hash } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/

/** 53 bits are what a double holds exactly. */
const HASH_RANGE = 2 ** 53

/** The time of a UUIDv7 is cut to this, so that it leaves 18 bits for the hash. */
const TIME_UNIT_MS = 64
const TIME_RANGE = 2 ** 35
const LOW_RANGE = 2 ** 18

/** A `message_id` as the table has it: 16 bytes for a UUID in its usual form, which takes 20 bytes less than its text. */
export function storedMessageId(text: string): string | Uint8Array {
  return UUID.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : text
}

/** The `message_id` that `storedMessageId` has made smaller. */
export function messageIdText(stored: unknown): string | null {
  if (stored === null || typeof stored === 'string') return stored
  const hex = Buffer.from(stored as Uint8Array).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * The number under which a message is looked up; others may share it. That of a UUIDv7 begins with its time, so that
 * those of a stream lie together in the index; all else is spread by a hash.
 * @param salt keeps the hash unforeseeable: whoever could choose messages of one key would slow the look-up down
 */
export function messageKey(salt: string, workspace_id: string, message_id: string): number {
  const digest = hash('sha256', `${salt} ${workspace_id} ${message_id}`, 'buffer')
  if (!UUID_V7.test(message_id)) return (digest.readUIntBE(0, 6) * 128 + (digest[6] as number)) % HASH_RANGE
  const ms = Number.parseInt(message_id.slice(0, 8) + message_id.slice(9, 13), 16)
  return (Math.floor(ms / TIME_UNIT_MS) % TIME_RANGE) * LOW_RANGE + (digest.readUInt32BE(0) % LOW_RANGE)
}
