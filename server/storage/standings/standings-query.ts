import type { Page } from '../../domain/paging.ts'
import type { CustomerFilter, StandingFilter, Standings } from './standings.ts'

/** What is asked of standings, on its way to whoever reads them. */
export type StandingsQuery =
  | { kind: 'report'; workspaceId: string; journeyId: string; filter: StandingFilter }
  | {
      kind: 'trend'
      workspaceId: string
      journeyId: string
      filter: StandingFilter & { starts_ms: readonly number[] }
    }
  | { kind: 'histogram'; workspaceId: string; journeyId: string; filter: StandingFilter & { step: number } }
  | { kind: 'customers'; workspaceId: string; journeyId: string; filter: CustomerFilter; page: Page }
  | { kind: 'customerJourneys'; workspaceId: string; customerId: string; page: Page }

/** What each of them is answered with. */
export type StandingsAnswers = { [Kind in keyof Standings]: Awaited<ReturnType<Standings[Kind]>> }
