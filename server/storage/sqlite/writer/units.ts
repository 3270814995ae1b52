import type { EventOutcome, InitializeOutcome } from '../../events/event-store.ts'
import type { Connection } from '../connection.ts'
import type { Memtable, MemtableRing } from '../index/memtable.ts'
import type { MessageIndex } from '../index/message-index.ts'
import { CustomerWriter, type Initialization } from './customer-writer.ts'
import { type EventsUnit, EventWriter } from './event-writer.ts'
import { References } from './references.ts'

/** A unit of work that the writer does completely or not at all, in one transaction with others. */
export type Unit =
  | ({ kind: 'initialize' | 'check-customer' } & Initialization)
  | ({ kind: 'events' | 'check-events' } & EventsUnit)
  | { kind: 'key-used'; key_id: string }
  | { kind: 'probe' }

export type UnitOutcome = InitializeOutcome | EventOutcome[] | 'written'

/** Does groups of units, each group inside a transaction that the caller has begun. */
export class Units {
  readonly #references: References
  readonly #customers: CustomerWriter
  readonly #events: EventWriter
  readonly #statements: ReturnType<typeof prepare>

  constructor(connection: Connection, messages: MessageIndex, ring: MemtableRing) {
    this.#references = new References(connection)
    this.#customers = new CustomerWriter(connection, this.#references)
    this.#events = new EventWriter(connection, this.#references, messages, ring)
    this.#statements = prepare(connection)
  }

  get memtable(): Memtable {
    return this.#events.memtable
  }

  /** See `EventWriter`. */
  readMemtable(limit: number): number {
    return this.#events.readMemtable(limit)
  }

  /**
   * Does the units in order. If it throws, the caller must roll back and call `forget`; otherwise it commits and then
   * calls `committed`.
   */
  run(group: readonly Unit[], now_ms: number): UnitOutcome[] {
    this.#events.beginGroup(group.filter((unit) => 'events' in unit))
    const outcomes = group.map((unit) => this.#runUnit(unit, now_ms))
    this.#events.endGroup()
    return outcomes
  }

  committed(): void {
    this.#events.committed()
  }

  /** Drops what was not committed, and the cache: another program or a rollback may have changed what it holds. */
  forget(): void {
    this.#references.forget()
    this.#events.forget()
  }

  #runUnit(unit: Unit, now_ms: number): UnitOutcome {
    if (unit.kind === 'initialize') return this.#customers.initialize(unit, now_ms)
    if (unit.kind === 'events') return this.#events.insert(unit, now_ms)
    if (unit.kind === 'check-customer') return this.#customers.check(unit)
    if (unit.kind === 'check-events') return this.#events.check(unit, now_ms)
    if (unit.kind === 'key-used') this.#statements.keyUsed.run(now_ms, unit.key_id)
    else this.#statements.probe.run()
    return 'written'
  }
}

function prepare(connection: Connection) {
  return {
    // Writes a page that every file has, so that the disk is tested and not only the lock.
    probe: connection.prepare('PRAGMA user_version = 0'),
    keyUsed: connection.prepare<[number, string]>(
      'UPDATE service_keys SET last_used_ms = ? WHERE key_id = ?',
    ),
  }
}
