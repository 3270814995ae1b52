/** Who sends fewer bytes a second loses its place when the patience is used up. */
const LEAST_BYTES_A_SECOND = 8 * 1024

/** Where places are short, whoever has used up so much of its patience loses its place to another. */
const PRESSED_MS = 1_000

/** How often is looked for those whose patience is used up. */
const LOOK_MS = 1_000

export type PlaceOptions = {
  /** Whose it is: a key, a person or a network. */
  owner: string
  /** How long nothing need move. */
  patience_ms: number
  /** Ends what the place is for: the peer is too slow, and has lost it. */
  cut: () => void
}

/**
 * Memory for what is under way to or from a peer, bounded for all together. A caller may hold as much as it leaves free:
 * one alone half of it, two a third each, so that there always is some for who comes next. Peers that are slow do not
 * keep others out: they are cut off, at once where another needs the memory, else when their patience is used up.
 */
export class Places {
  #left_bytes: number
  readonly #held = new Map<string, number>()
  /** Those that wait for their peer; who came first goes first. */
  readonly #waiting = new Set<Place>()
  #timer: NodeJS.Timeout | undefined

  constructor(bytes: number) {
    this.#left_bytes = bytes
  }

  enter(options: PlaceOptions): Place {
    const place = new Place(this, options)
    this.#waiting.add(place)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    return place
  }

  /** @returns whether there is so much room for the owner, where need be that of others that are slow */
  makeRoom(owner: string, bytes: number): boolean {
    if (this.#hasRoom(owner, bytes)) return true
    const now_ms = performance.now()
    const own_bytes = this.#held.get(owner) ?? 0
    for (const other of this.#waiting) {
      const isSlow = other.bytes > 0 && other.waited_ms(now_ms) > PRESSED_MS
      // Nobody loses anything to one who holds more.
      if (!isSlow || (this.#held.get(other.owner) ?? 0) < own_bytes) continue
      other.lose()
      if (this.#hasRoom(owner, bytes)) return true
    }
    return false
  }

  /** For a place alone. @returns whether it got the bytes */
  take({ owner }: Place, bytes: number): boolean {
    if (!this.makeRoom(owner, bytes)) return false
    this.#left_bytes -= bytes
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + bytes)
    return true
  }

  /** For a place alone. */
  settle(place: Place): void {
    this.#waiting.delete(place)
  }

  /** For a place alone. */
  giveBack(place: Place, bytes: number): void {
    this.#waiting.delete(place)
    const held = (this.#held.get(place.owner) ?? 0) - bytes
    this.#left_bytes += bytes
    if (held > 0) this.#held.set(place.owner, held)
    else this.#held.delete(place.owner)
  }

  #hasRoom(owner: string, bytes: number): boolean {
    return (this.#held.get(owner) ?? 0) + bytes <= this.#left_bytes - bytes
  }

  #look() {
    const now_ms = performance.now()
    for (const place of this.#waiting) if (place.waited_ms(now_ms) > place.patience_ms) place.lose()
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** What one peer holds. */
export class Place {
  readonly owner: string
  readonly patience_ms: number
  /** Held now. */
  bytes = 0
  readonly #places: Places
  readonly #cut: () => void
  /** When the patience begins; what moves shifts it, up to now. */
  #since_ms = performance.now()

  constructor(places: Places, { owner, patience_ms, cut }: PlaceOptions) {
    this.#places = places
    this.owner = owner
    this.patience_ms = patience_ms
    this.#cut = cut
  }

  /** Holds more bytes. @returns false where there is no room for them */
  hold(bytes: number): boolean {
    if (!this.#places.take(this, bytes)) return false
    this.bytes += bytes
    return true
  }

  /** So many bytes have come from the peer. */
  moved(bytes: number): void {
    const earned_ms = (bytes / LEAST_BYTES_A_SECOND) * 1000
    this.#since_ms = Math.min(performance.now(), this.#since_ms + earned_ms)
  }

  /** How much of its patience is used up. */
  waited_ms(now_ms: number): number {
    return now_ms - this.#since_ms
  }

  /** It waits for its peer no more, and cannot be lost. */
  settle(): void {
    this.#places.settle(this)
  }

  /** Gives back what it holds. */
  leave(): void {
    this.#places.giveBack(this, this.bytes)
    this.bytes = 0
  }

  /** Leaves against its will. */
  lose(): void {
    this.leave()
    this.#cut()
  }
}
