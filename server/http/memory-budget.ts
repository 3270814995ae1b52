/** Minimum rate of a peer; below it the peer's patience runs out. */
const LEAST_BYTES_A_SECOND = 8 * 1024

/** When memory is short, a peer that has waited this long loses its reservation to another. */
const PRESSED_MS = 1_000

/** Interval of the check for peers whose patience has run out. */
const LOOK_MS = 1_000

export type ReservationOptions = {
  /** The owner: a key, a person or a network. */
  owner: string
  /** How long the peer may make no progress. */
  patience_ms: number
  /** Ends the transfer: the peer is too slow and has lost its reservation. */
  cut: () => void
}

/**
 * A memory budget for data in transfer to or from peers, shared by all of them. An owner may hold as much as it leaves
 * free (dynamic thresholds, after Choudhury and Hahne 1998): one alone a half, two a third each, so that there is
 * always some for the next. Slow peers do not keep others out: they are disconnected, immediately if another needs the
 * memory, otherwise when their patience runs out.
 */
export class MemoryBudget {
  #left_bytes: number
  readonly #held = new Map<string, number>()
  /** Reservations that wait for their peer; the oldest is evicted first. */
  readonly #waiting = new Set<Reservation>()
  #timer: NodeJS.Timeout | undefined

  constructor(bytes: number) {
    this.#left_bytes = bytes
  }

  reserve(options: ReservationOptions): Reservation {
    const reservation = new Reservation(this, options)
    this.wait(reservation)
    return reservation
  }

  /** @returns whether the owner may take this many bytes, if necessary by evicting slow peers */
  makeRoom(owner: string, bytes: number): boolean {
    if (this.#hasRoom(owner, bytes)) return true
    const now_ms = performance.now()
    const own_bytes = this.#held.get(owner) ?? 0
    for (const other of this.#waiting) {
      const isSlow = other.bytes > 0 && other.waited_ms(now_ms) > PRESSED_MS
      // Nobody is evicted for an owner that holds more.
      if (!isSlow || (this.#held.get(other.owner) ?? 0) < own_bytes) continue
      other.lose()
      if (this.#hasRoom(owner, bytes)) return true
    }
    return false
  }

  /** Called by `Reservation` only. @returns whether it got the bytes */
  take({ owner }: Reservation, bytes: number): boolean {
    if (!this.makeRoom(owner, bytes)) return false
    this.#left_bytes -= bytes
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + bytes)
    return true
  }

  /** Called by `Reservation` only. */
  wait(reservation: Reservation): void {
    this.#waiting.add(reservation)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
  }

  /** Called by `Reservation` only. */
  settle(reservation: Reservation): void {
    this.#waiting.delete(reservation)
  }

  /** Called by `Reservation` only. */
  giveBack(reservation: Reservation, bytes: number): void {
    this.#waiting.delete(reservation)
    const held = (this.#held.get(reservation.owner) ?? 0) - bytes
    this.#left_bytes += bytes
    if (held > 0) this.#held.set(reservation.owner, held)
    else this.#held.delete(reservation.owner)
  }

  #hasRoom(owner: string, bytes: number): boolean {
    return (this.#held.get(owner) ?? 0) + bytes <= this.#left_bytes - bytes
  }

  #look() {
    const now_ms = performance.now()
    for (const reservation of this.#waiting)
      if (reservation.waited_ms(now_ms) > reservation.patience_ms) reservation.lose()
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** The reservation of one peer. */
export class Reservation {
  readonly owner: string
  readonly patience_ms: number
  /** Bytes held now. */
  bytes = 0
  readonly #budget: MemoryBudget
  readonly #cut: () => void
  /** Start of the wait; progress moves it forward, at most to now. */
  #since_ms = performance.now()

  constructor(budget: MemoryBudget, { owner, patience_ms, cut }: ReservationOptions) {
    this.#budget = budget
    this.owner = owner
    this.patience_ms = patience_ms
    this.#cut = cut
  }

  /** Reserves more bytes. @returns false if they are not available */
  hold(bytes: number): boolean {
    if (!this.#budget.take(this, bytes)) return false
    this.bytes += bytes
    return true
  }

  /** Records that the peer has sent bytes. */
  moved(bytes: number): void {
    const earned_ms = (bytes / LEAST_BYTES_A_SECOND) * 1000
    this.#since_ms = Math.min(performance.now(), this.#since_ms + earned_ms)
  }

  /** Returns how long it has waited for its peer. */
  waited_ms(now_ms: number): number {
    return now_ms - this.#since_ms
  }

  /** Starts to wait for the peer, after `settle`. */
  wait(): void {
    this.#since_ms = performance.now()
    this.#budget.wait(this)
  }

  /** Ends the wait for the peer; the reservation can no longer be evicted. */
  settle(): void {
    this.#budget.settle(this)
  }

  /** Releases the reservation. */
  leave(): void {
    this.#budget.giveBack(this, this.bytes)
    this.bytes = 0
  }

  /** Evicts the reservation. */
  lose(): void {
    this.leave()
    this.#cut()
  }
}
