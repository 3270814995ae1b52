import type { Page } from '../../domain/paging.ts'
import type { AheadOf, BrokenDown, ComparedReport, CustomerFilter, Standings } from './standings.ts'

/** A query of standings, as it is sent to the thread that reads them. */
export type StandingsQuery =
  | { kind: 'report'; workspaceId: string; journeyId: string; filter: ComparedReport }
  | { kind: 'readAhead'; workspaceId: string; journeyId: string; ahead: AheadOf }
  | {
      kind: 'trend'
      workspaceId: string
      journeyId: string
      filter: BrokenDown & { starts_ms: readonly number[] }
    }
  | { kind: 'histogram'; workspaceId: string; journeyId: string; filter: BrokenDown & { step: number } }
  | { kind: 'customers'; workspaceId: string; journeyId: string; filter: CustomerFilter; page: Page }
  | { kind: 'customerJourneys'; workspaceId: string; customerId: string; page: Page }

/** The answer to each query. */
export type StandingsAnswers = { [Kind in keyof Standings]: Awaited<ReturnType<Standings[Kind]>> }
