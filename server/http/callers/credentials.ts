import type { Credential } from '../../contract.ts'
import { isRecent } from '../../domain/instants.ts'
import { isServiceKey, keyStatus } from '../../domain/service-keys.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { Problem } from '../../problems.ts'
import type { Transaction } from '../../storage/database.ts'
import type { ServedStorage } from '../../storage/storage.ts'
import {
  type CallingKey,
  findServiceKey,
  findServiceKeyByDigest,
  serviceKeysByDigest,
} from '../../storage/tables/service-keys.ts'
import { originOf } from './origins.ts'

/** Minimum interval between updates of `last_used_ms`. */
const LAST_USED_MS = 60_000

/** Maximum keys cached; with more, some are looked up again. */
const CACHED_KEYS = 10_000

/** Keys read per query during a refresh, which takes less than a millisecond. */
const REFRESHED_KEYS = 100

type CredentialsOptions = {
  storage: ServedStorage
  now: () => number
  onError: (error: unknown) => void
  /** Called when a key is looked up in the store, because it is not cached. */
  onLookUp: () => void
}

/** Runs a look-up in its turn. */
export type Queued = <Result>(lookUp: () => Promise<Result>) => Promise<Result>

type CachedKey = { digest: string; key: CallingKey }

/** Authenticates the `x-service-key` header. */
export class Credentials {
  readonly #storage: ServedStorage
  readonly #now: () => number
  readonly #onError: (error: unknown) => void
  readonly #onLookUp: () => void
  /** By token, because checking and hashing a token takes 2 µs. */
  #keys = new Map<string, CachedKey>()
  /** Look-ups that are waiting or running, by token. */
  #lookUps = new Map<string, Promise<CallingKey | undefined>>()
  /**
   * When the use of a key was last recorded, by `key_id`. Survives `forget`, because the record may not be stored yet.
   */
  readonly #noted_ms = new Map<string, number>()
  /** Incremented by each change: an earlier lookup may be stale. */
  #generation = 0
  #isRefreshDue = false
  #refreshing: Promise<void> | undefined

  constructor({ storage, now, onError, onLookUp }: CredentialsOptions) {
    this.#storage = storage
    this.#now = now
    this.#onError = onError
    this.#onLookUp = onLookUp
  }

  /**
   * Reads the cached keys again, because another process may have changed one. Until that is done, in some
   * milliseconds, the cache stays valid: dropping it would make every sender wait at each commit of any process.
   */
  async refresh(): Promise<void> {
    this.#generation += 1
    this.#isRefreshDue = true
    this.#refreshing ??= this.#refreshWhileDue()
    await this.#refreshing
  }

  /** Drops every cached key. Must be called when this process has changed a key, before the change is acknowledged. */
  forget(): void {
    this.#generation += 1
    // New maps rather than clear(): a refresh or a look-up that is running still writes to the old ones.
    this.#keys = new Map()
    this.#lookUps = new Map()
  }

  /**
   * Returns the valid key of a request.
   * @param origin the `Origin` header, which only browsers send
   * @param queued for the look-up of a key that is not cached
   * @throws {Problem} `unauthorized` without a reason; `session_required`, `secret_key_required`, `origin_not_allowed`
   * @throws {KeyRejected} if the key exists, so that its workspace can be shown the rejection
   */
  async check(
    token: string | undefined,
    {
      accepts,
      origin,
      queued,
    }: { accepts: readonly Credential[]; origin: string | undefined; queued: Queued },
  ): Promise<CallingKey> {
    const key = token === undefined ? undefined : await this.#find(token, queued)
    const now_ms = this.#now()
    if (!key) throw unauthorized(accepts)
    if (keyStatus(key, now_ms) !== 'active') throw new KeyRejected(key, unauthorized(accepts))
    if (!isForKeys(accepts)) throw new Problem('session_required')
    if (!accepts.includes(key.kind)) throw new Problem('secret_key_required')
    if (origin !== undefined && !isAllowed(origin, key)) {
      throw new KeyRejected(key, new Problem('origin_not_allowed'))
    }
    this.#touch(key, now_ms)
    return key
  }

  /**
   * Returns the key of a request as it is inside a transaction.
   * @throws {Problem} `unauthorized` if it has expired or was revoked since it was checked
   */
  async recheck(
    db: Transaction,
    { key_id }: CallingKey,
    accepts: readonly Credential[],
  ): Promise<CallingKey> {
    const key = await findServiceKey(db, key_id)
    if (!key || keyStatus(key, this.#now()) !== 'active') throw unauthorized(accepts)
    return key
  }

  /** Unknown keys are not cached: a key that a finished command created is valid immediately. */
  async #find(token: string, queued: Queued): Promise<CallingKey | undefined> {
    const cached = this.#keys.get(token)
    if (cached && (this.#storage.isCurrent?.() ?? true)) return cached.key
    if (!isServiceKey(token)) return undefined
    const digest = tokenDigest(token)
    // All who send a key before it is known wait for one look-up.
    const lookUps = this.#lookUps
    const begun = lookUps.get(token)
    if (begun) return await begun
    const lookUp = queued(() => this.#lookUp(token, digest)).finally(() => lookUps.delete(token))
    lookUps.set(token, lookUp)
    return await lookUp
  }

  async #lookUp(token: string, digest: string): Promise<CallingKey | undefined> {
    const generation = this.#generation
    this.#onLookUp()
    const key = await findServiceKeyByDigest(this.#storage.db, digest)
    // A change during the lookup may have made the result stale.
    if (key && generation === this.#generation) {
      if (this.#keys.size >= CACHED_KEYS) this.#keys.clear()
      this.#keys.set(token, { digest, key })
    }
    return key
  }

  async #refreshWhileDue() {
    while (this.#isRefreshDue) {
      this.#isRefreshDue = false
      try {
        await this.#refreshOnce(this.#keys)
      } catch {
        // The store is overloaded or closed. What cannot be confirmed is dropped.
        this.forget()
      }
    }
    this.#refreshing = undefined
  }

  async #refreshOnce(keys: Map<string, CachedKey>) {
    const cached = [...keys]
    for (let from = 0; from < cached.length; from += REFRESHED_KEYS) {
      const part = cached.slice(from, from + REFRESHED_KEYS)
      const digests = part.map(([, { digest }]) => digest)
      const stored = await serviceKeysByDigest(this.#storage.db, digests)
      for (const [token, { digest }] of part) {
        const key = stored.get(digest)
        if (key) keys.set(token, { digest, key })
        else keys.delete(token)
      }
    }
  }

  #touch({ key_id, last_used_ms }: CallingKey, now_ms: number) {
    const noted_ms = this.#noted_ms.get(key_id) ?? last_used_ms
    if (noted_ms !== null && isRecent(noted_ms, now_ms, LAST_USED_MS)) return
    if (this.#noted_ms.size >= CACHED_KEYS) this.#noted_ms.clear()
    this.#noted_ms.set(key_id, now_ms)
    this.#storage.noteKeyUse(key_id).catch(this.#onError)
  }
}

/**
 * A key that exists but may not call the operation: it was revoked, has expired, or does not allow the page's origin.
 * The response is that of the problem only.
 */
export class KeyRejected extends Problem {
  readonly key: CallingKey

  constructor(key: CallingKey, { code, detail, headers }: Problem) {
    super(code, { detail, headers })
    this.key = key
  }
}

function isAllowed(origin: string, { allowed_origins }: CallingKey): boolean {
  // Compared as text first, which is how browsers send it and how nearly every list has it.
  if (allowed_origins.length === 0 || allowed_origins.includes(origin)) return true
  const page = originOf(origin)
  return page !== undefined && allowed_origins.some((allowed) => originOf(allowed) === page)
}

/**
 * Returns the problem for a request without a valid credential that the operation accepts. It deliberately gives no
 * reason.
 */
export function unauthorized(accepts: readonly Credential[]): Problem {
  return isForKeys(accepts)
    ? new Problem('unauthorized', { headers: { 'WWW-Authenticate': 'ServiceKey header="x-service-key"' } })
    : new Problem('unauthorized', {
        detail: 'Sign in.',
        headers: { 'WWW-Authenticate': 'Session cookie="cairn_session"' },
      })
}

function isForKeys(accepts: readonly Credential[]): boolean {
  return accepts.some((credential) => credential !== 'session')
}
