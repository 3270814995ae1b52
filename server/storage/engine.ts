import type { Dialect } from 'kysely'
import type { Position } from '../domain/cursors.ts'
import type { Arrived } from './arrived-customers.ts'
import type { RemovalStore } from './removals/removal-store.ts'

/** What of an engine is the same wherever its statements are run: how they are written, and of which some things consist. */
export type Engine = {
  dialect: Omit<Dialect, 'createDriver'>
  arrivedPlaces: (workspaceId: string, end: Position) => Arrived['places']
  removals: Omit<RemovalStore, 'begin'>
}
