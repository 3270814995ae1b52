import type { components } from '../../../generated/contract.ts'
import { isRecent } from '../../domain/instants.ts'
import type { JsonBytes } from '../../domain/json-bytes.ts'
import { tokenDigest } from '../../domain/tokens.ts'
import { RecentMap } from './recent-map.ts'

type SharedView = components['schemas']['SharedView']

/** How long the numbers of a link are sent again (contract: "Links"). */
const KEPT_MS = 15_000

/** Answers kept: one of 400 cohorts with 100 steps has some 300 kB. */
const ANSWERS = 32

/** Tokens kept that have led to a view. */
const TOKENS = 10_000

/** What a server keeps of links, so that many readers of one cost no more than one. */
export class SharedViews {
  readonly #answers = new RecentMap<{ body: Promise<JsonBytes<SharedView>>; started_ms: number }>(ANSWERS)
  readonly #known = new RecentMap<true>(TOKENS)

  /** Whether a token has led to a view. It may no longer, so it is looked up again. */
  isKnown(token: string): boolean {
    return this.#known.get(tokenDigest(token)) ?? false
  }

  note(token: string): void {
    this.#known.set(tokenDigest(token), true)
  }

  /** The answer for a state of a view, perhaps still being computed, if that started recently. */
  recent(name: string, now_ms: number): Promise<JsonBytes<SharedView>> | undefined {
    const answer = this.#answers.get(name)
    return answer && isRecent(answer.started_ms, now_ms, KEPT_MS) ? answer.body : undefined
  }

  /** Keeps an answer from when its computation starts; one that fails only until then. */
  keep(name: string, body: Promise<JsonBytes<SharedView>>, started_ms: number): void {
    this.#answers.set(name, { body, started_ms })
    body.catch(() => {
      if (this.#answers.get(name)?.body === body) this.#answers.delete(name)
    })
  }
}
