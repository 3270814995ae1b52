import type { Connection } from '../connection.ts'

/** Limit of cached keys; when it is reached, the cache is cleared. Each takes about 150 bytes. */
const CACHED_KEYS = 10_000

/** The row numbers by which events refer to the keys they were sent with. A key gets one with its first event. */
export class EventKeys {
  readonly #statements: ReturnType<typeof prepare>
  /** By key_id. */
  readonly #refs = new Map<string, number>()

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /** Call inside a transaction of the writer. */
  refOf(key_id: string): number {
    const known = this.#refs.get(key_id)
    if (known !== undefined) return known
    const ref = this.#statements.find.get(key_id) ?? this.#statements.add.get(key_id)
    if (ref === undefined) throw new Error('a key has no number')
    if (this.#refs.size >= CACHED_KEYS) this.#refs.clear()
    // A copy: a substring would keep the whole text of the group in memory.
    this.#refs.set(Buffer.from(key_id).toString(), ref)
    return ref
  }

  /** Drops what was not committed. */
  forget(): void {
    this.#refs.clear()
  }
}

function prepare(connection: Connection) {
  return {
    find: connection.prepare<[string], number>('SELECT key_ref FROM event_keys WHERE key_id = ?').pluck(),
    add: connection
      .prepare<[string], number>('INSERT INTO event_keys (key_id) VALUES (?) RETURNING key_ref')
      .pluck(),
  }
}
