import type { EventOutcome, InitializeOutcome } from '../../events/event-store.ts'
import type { Connection } from '../connection.ts'
import type { Memtable, MemtableRing } from '../index/memtable.ts'
import type { MessageIndex } from '../index/message-index.ts'
import { CustomerWriter, type Initialization } from './customer-writer.ts'
import { type EventsUnit, EventWriter } from './event-writer.ts'
import { References } from './references.ts'

/** What a unit of each kind asks for, and its outcome. */
type UnitKinds = {
  initialize: { asked: Initialization; outcome: InitializeOutcome }
  'check-customer': { asked: Initialization; outcome: InitializeOutcome }
  events: { asked: EventsUnit; outcome: EventOutcome[] }
  'check-events': { asked: EventsUnit; outcome: EventOutcome[] }
  'key-used': { asked: { key_id: string }; outcome: 'written' }
  probe: { asked: unknown; outcome: 'written' }
}

export type UnitKind = keyof UnitKinds

/** A unit of work that the writer does completely or not at all, in one transaction with others. */
export type Unit<Kind extends UnitKind = UnitKind> = {
  [One in Kind]: { kind: One } & UnitKinds[One]['asked']
}[Kind]

export type UnitOutcome<Kind extends UnitKind = UnitKind> = UnitKinds[Kind]['outcome']

/** Does groups of units, each group inside a transaction that the caller has begun. */
export class Units {
  readonly #events: EventWriter
  readonly #work: { [Kind in UnitKind]: (unit: Unit<Kind>, now_ms: number) => UnitOutcome<Kind> }

  constructor(connection: Connection, messages: MessageIndex, ring: MemtableRing) {
    const references = new References(connection)
    const customers = new CustomerWriter(connection, references)
    const events = new EventWriter(connection, references, messages, ring)
    const { probe, keyUsed } = prepare(connection)
    this.#events = events
    this.#work = {
      initialize: (unit, now_ms) => customers.initialize(unit, now_ms),
      'check-customer': (unit) => customers.check(unit),
      events: (unit, now_ms) => events.insert(unit, now_ms),
      'check-events': (unit, now_ms) => events.check(unit, now_ms),
      'key-used': ({ key_id }, now_ms) => {
        keyUsed.run(now_ms, key_id)
        return 'written'
      },
      probe: () => {
        probe.run()
        return 'written'
      },
    }
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
    this.#events.begin(group.filter((unit) => 'events' in unit))
    const outcomes = group.map((unit) => this.#runUnit(unit, now_ms))
    this.#events.end()
    return outcomes
  }

  committed(): void {
    this.#events.committed()
  }

  /** See `EventWriter`. */
  forget(): void {
    this.#events.forget()
  }

  #runUnit<Kind extends UnitKind>(unit: Unit<Kind>, now_ms: number): UnitOutcome<Kind> {
    return this.#work[unit.kind](unit, now_ms)
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
