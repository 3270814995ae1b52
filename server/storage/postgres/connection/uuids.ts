import { hash } from 'node:crypto'
import { type IdPrefix, typeIdBytes, typeIdText } from '../../../domain/identifiers.ts'

// Identifiers of events as PostgreSQL stores them: the UUID of a TypeID. In this code it is always 32 hexadecimal
// digits, which PostgreSQL accepts; it returns it with hyphens.

/** Buffer for one UUID. */
const MADE = Buffer.alloc(16)

/** Returns the UUID of an identifier. @throws {Error} if it is not a TypeID, which the store never assigns */
export function uuidOf(id: string): string {
  const uuid = parsedUuid(id)
  if (uuid === undefined) throw new Error('an identifier in the store is not a TypeID')
  return uuid
}

/** The same; undefined if it is not a TypeID. */
export function parsedUuid(id: string): string | undefined {
  return typeIdBytes(id, MADE)?.toString('hex')
}

/** Returns the digits of a UUID in PostgreSQL's form. */
export function digitsOf(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** Returns the identifier of a UUID. */
export function idOf(prefix: IdPrefix | 'evt', uuid: string): string {
  MADE.write(uuid, 'hex')
  return typeIdText(prefix, MADE)
}

/** Returns the creation time of a UUIDv7. */
export function msOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 12), 16)
}

/** Returns the number of the process that made a UUIDv7, from the three digits where `ascendingIds` puts it. */
export function writerOf(uuid: string): string {
  return uuid.slice(13, 16)
}

/** Returns a lower bound of the UUIDv7 of this millisecond. */
export function firstUuidOf(ms: number): string {
  const clamped = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
  return clamped.toString(16).padStart(12, '0').padEnd(32, '0')
}

/** Returns an upper bound of the UUIDs of this millisecond. */
export function lastUuidOf(ms: number): string {
  return firstUuidOf(ms).slice(0, 12).padEnd(32, 'f')
}

/** Formats bytes as 32 hexadecimal digits. */
export function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a `message_id` is a UUID in its usual form, which takes 16 bytes in the store instead of 37. */
export function isUuid(message_id: string): boolean {
  return message_id.length === 36 && UUID.test(message_id)
}

/**
 * Returns the UUID under which a message is looked up: its own, or for other texts half of a digest. With the salt
 * nobody can choose two messages with the same one, and random ones will not collide.
 */
export function messageUuid(message_id: string, salt: string): string {
  return isUuid(message_id) ? digitsOf(message_id) : hash('sha256', salt + message_id).slice(0, 32)
}
