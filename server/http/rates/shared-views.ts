import type { components } from '../../../generated/contract.ts'
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
  readonly #answers = new RecentMap<{ body: JsonBytes<SharedView>; kept_ms: number }>(ANSWERS)
  readonly #known = new RecentMap<true>(TOKENS)

  /** Whether a token has led to a view. It may no longer, so it is looked up again. */
  isKnown(token: string): boolean {
    return this.#known.get(tokenDigest(token)) ?? false
  }

  note(token: string): void {
    this.#known.set(tokenDigest(token), true)
  }

  /** The answer for a state of a view, if it is recent. */
  recent(name: string, now_ms: number): JsonBytes<SharedView> | undefined {
    const answer = this.#answers.get(name)
    return answer && Math.abs(now_ms - answer.kept_ms) < KEPT_MS ? answer.body : undefined
  }

  keep(name: string, body: JsonBytes<SharedView>, kept_ms: number): void {
    this.#answers.set(name, { body, kept_ms })
  }
}
